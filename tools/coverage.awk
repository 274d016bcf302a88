# coverage.awk - adds up what `gcov -n` prints of each source file: a line a folder, then the whole.
#
# A file that is compiled several times counts with its best figure.
/^File '/ {
    file = substr($0, 7, length($0) - 7)
    sub("^(\\.\\./)+", "", file)
    next
}
/^Lines executed:/ && file != "" && file !~ /^\// {
    split($0, part, /[:% ]+/)
    lines = part[length(part)] + 0
    reached = part[3] * lines / 100
    if (!(file in all) || reached > hit[file]) { all[file] = lines; hit[file] = reached }
    file = ""
}
END {
    for (f in all) {
        folder = f
        if (!sub("/[^/]*$", "", folder)) folder = "."
        n[folder] += all[f]; h[folder] += hit[f]
        total += all[f]; reached_all += hit[f]
    }
    for (f in n) printf "%6.1f %%  %7d lines  %s\n", 100 * h[f] / n[f], n[f], f | "sort -k4"
    close("sort -k4")
    if (total) printf "%6.1f %%  %7d lines  all\n", 100 * reached_all / total, total
}
