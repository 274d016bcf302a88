# completion.awk - reads the help texts (completion.sh) and writes a completion. shell: bash, zsh or fish.

# Completions of a value that the help names `takes`: a list of words, "files", or "" (anything).
function values(takes) {
    if (takes == "MACHINE") return machines
    if (takes ~ /FILE|DIR|\.db|\.html|^OUT$|^PATH/) return "files"
    if (takes !~ /^[a-z0-9][a-z0-9_-]*(\|[a-z0-9_-]+)+$/) return ""
    gsub(/\|/, " ", takes)
    return takes
}
# Text for a single-quoted string of zsh and fish.
function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/'/, (shell == "zsh" ? "'\\''" : "\\'"), text)
    if (shell == "zsh") {
        gsub(/\[/, "\\[", text)
        gsub(/\]/, "\\]", text)
        gsub(/:/, "\\:", text)
    }
    return text
}
/^machines:/ {
    machines = $0
    sub(/^machines: /, "", machines)
}
/^  ptxloom [a-z]+ .*  [a-z]/ && !/^  ptxloom run K.ptx -g 4/ {
    name[++commands] = $2
    text = $0
    sub(/.*   */, "", text)
    about[commands] = text
}
/^== / { command = $2 }
command && /^ +(-[a-zA-Z], )?--[a-z]/ {
    letter = ""
    line = $0
    sub(/^ +/, "", line)
    if (line ~ /^-[a-zA-Z],/) {
        letter = substr(line, 2, 1)
        sub(/^-., /, "", line)
    }
    n = ++options[command]
    option = line
    sub(/ .*/, "", option)
    sub(/^[^ ]*/, "", line)
    takes = ""
    if (line ~ /^ [^ ]/) {
        sub(/^ /, "", line)
        takes = line
        sub(/ .*/, "", takes)
        sub(/^[^ ]*/, "", line)
    }
    sub(/^ +/, "", line)
    long_of[command, n] = option
    letter_of[command, n] = letter
    takes_of[command, n] = takes
    help_of[command, n] = line
}
END {
    if (!commands || !machines) exit 1
    if (shell == "bash") write_bash()
    else if (shell == "zsh") write_zsh()
    else write_fish()
}
function write_bash(   i, k, c, all, v) {
    for (i = 1; i <= commands; i++) all = all (i > 1 ? " " : "") name[i]
    print "# bash completion for ptxloom; written by cli/completion.awk"
    print "_ptxloom()\n{"
    print "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words="
    print "    COMPREPLY=()"
    print "    if [ \"$COMP_CWORD\" -eq 1 ]; then"
    print "        COMPREPLY=($(compgen -W \"" all " help --help --version\" -- \"$cur\"))"
    print "        return"
    print "    fi"
    print "    case \"${COMP_WORDS[1]} $prev\" in"
    print "    help\\ *) words=\"" all "\" ;;"
    for (i = 1; i <= commands; i++) {
        c = name[i]
        for (k = 1; k <= options[c]; k++) {
            if (takes_of[c, k] == "") continue
            v = values(takes_of[c, k])
            printf "    '%s %s'", c, long_of[c, k]
            if (letter_of[c, k]) printf " | '%s -%s'", c, letter_of[c, k]
            if (v == "files") print ") compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")); return ;;"
            else if (v == "") print ") return ;;"
            else printf ") words=\"%s\" ;;\n", v
        }
    }
    print "    esac"
    print "    if [ -n \"$words\" ]; then"
    print "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))"
    print "        return"
    print "    fi"
    print "    case \"${COMP_WORDS[1]} $cur\" in"
    for (i = 1; i <= commands; i++) {
        c = name[i]
        printf "    '%s -'*) COMPREPLY=($(compgen -W \"--help", c
        for (k = 1; k <= options[c]; k++) printf " %s", long_of[c, k]
        print "\" -- \"$cur\")) ;;"
    }
    print "    *) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")) ;;"
    print "    esac"
    print "}"
    print "complete -F _ptxloom ptxloom"
}
function write_zsh(   i, k, c, v) {
    print "#compdef ptxloom"
    print "# zsh completion for ptxloom; written by cli/completion.awk"
    print "local -a commands\ncommands=("
    for (i = 1; i <= commands; i++) printf "    '%s:%s'\n", name[i], quoted(about[i])
    print ")"
    print "if (( CURRENT == 2 )); then\n    _describe command commands\n    return\nfi"
    print "case $words[2] in"
    print "help) _describe command commands ;;"
    for (i = 1; i <= commands; i++) {
        c = name[i]
        printf "%s)\n    shift words; (( CURRENT-- ))\n    _arguments", c
        for (k = 1; k <= options[c]; k++) {
            v = values(takes_of[c, k])
            printf " \\\n        "
            if (letter_of[c, k]) printf "{-%s,%s}", letter_of[c, k], long_of[c, k]
            else printf "'%s", long_of[c, k]
            if (letter_of[c, k]) printf "'"
            printf "[%s]", quoted(help_of[c, k])
            if (takes_of[c, k] != "") printf ":%s:%s", quoted(takes_of[c, k]), v == "files" ? "_files" : v == "" ? " " : "(" v ")"
            printf "'"
        }
        print " \\\n        '*:file:_files' ;;"
    }
    print "esac"
}
function write_fish(   i, k, c, v) {
    print "# fish completion for ptxloom; written by cli/completion.awk"
    print "complete -c ptxloom -n __fish_use_subcommand -f"
    for (i = 1; i <= commands; i++)
        printf "complete -c ptxloom -n __fish_use_subcommand -a %s -d '%s'\n", name[i], quoted(about[i])
    for (i = 1; i <= commands; i++) {
        c = name[i]
        for (k = 1; k <= options[c]; k++) {
            printf "complete -c ptxloom -n '__fish_seen_subcommand_from %s' -l %s", c, substr(long_of[c, k], 3)
            if (letter_of[c, k]) printf " -s %s", letter_of[c, k]
            if (takes_of[c, k] != "") {
                v = values(takes_of[c, k])
                printf v == "files" ? " -r -F" : v == "" ? " -x" : " -x -a '" v "'"
            }
            printf " -d '%s'\n", quoted(help_of[c, k])
        }
    }
}
