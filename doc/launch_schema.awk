# launch_schema.awk - makes doc/launch.schema.json of lib/launch/launch_keys.def: JSON Schema, draft 2020-12.
#     awk -f doc/launch_schema.awk lib/launch/launch_keys.def
BEGIN {
    FS = "\""
    type["TEXT"] = "\"type\": \"string\""
    type["TEXTS"] = "\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"minItems\": 1}]"
    type["FLAG"] = "\"type\": \"boolean\""
    type["WHOLE"] = "\"$ref\": \"#/$defs/whole\""
    type["WHOLES"] = "\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/whole\"}"
    type["NUMBER"] = "\"$ref\": \"#/$defs/number\""
    type["REAL"] = "\"type\": \"number\", \"minimum\": 0"
    type["NUMBERS"] = "\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/number\"}"
    type["SHAPE"] = "\"$ref\": \"#/$defs/shape\""
    type["TYPE"] = "\"$ref\": \"#/$defs/type\""
    type["INIT"] = "\"$ref\": \"#/$defs/init\""
    type["IM2COL"] = "\"$ref\": \"#/$defs/im2col\""
    type["ARGUMENTS"] = "\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/argument\"}"
    type["LAUNCHES"] = "\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/launch\"}"
    type["VARIABLES"] = "\"type\": \"object\", \"additionalProperties\": {\"$ref\": \"#/$defs/buffer\"}"
    type["TEXTURES"] = "\"type\": \"object\", \"additionalProperties\": {\"anyOf\": [{\"$ref\": \"#/$defs/texture\"}, {\"$ref\": \"#/$defs/surface\"}]}"
    type["ANY"] = ""
}
/^OBJECT\(/ {
    id = tolower($1)
    gsub(/object\(|[, ]/, "", id)
    object[++objects] = id
    title[id] = $2
}
/^KEY\(/ {
    middle = $3
    gsub(/[ ]/, "", middle)
    split(middle, word, ",")
    says = type[word[3]]
    if (word[3] == "CHOICE" || word[3] == "CHOICES") {
        says = $4
        gsub(/\|/, "\", \"", says)
        says = "\"enum\": [\"" says "\"]"
        if (word[3] == "CHOICES") says = "\"anyOf\": [{" says "}, {\"type\": \"array\", \"items\": {" says "}, \"maxItems\": 3}]"
    } else if (!(word[3] in type)) {
        print "launch_schema.awk: no type " word[3] >"/dev/stderr"
        exit 1
    }
    keys[id] = keys[id] (keys[id] ? ",\n" : "") "@\"" $2 "\": {" says (says ? ", " : "") "\"description\": \"" $6 "\"}"
    if (word[2] == "NEED") needed[id] = needed[id] (needed[id] ? ", " : "") "\"" $2 "\""
}
function body(id, indent,    text) {
    text = keys[id]
    gsub(/@/, indent "  ", text)
    return indent "\"type\": \"object\",\n" indent "\"additionalProperties\": false,\n" \
        (needed[id] ? indent "\"required\": [" needed[id] "],\n" : "") indent "\"properties\": {\n" text "\n" indent "}"
}
function several(names,    n, list, k, text) {
    n = split(names, list, " ")
    for (k = 1; k <= n; k++) text = text (k > 1 ? ", " : "") "{\"$ref\": \"#/$defs/" list[k] "\"}"
    return "\"anyOf\": [" text "]"
}
END {
    print "{"
    print "  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\","
    print "  \"title\": \"Launch file of ptxloom\","
    print "  \"$comment\": \"Made by doc/launch_schema.awk of lib/launch/launch_keys.def\","
    print body("file", "  ") ","
    print "  \"$defs\": {"
    print "    \"whole\": {\"description\": \"A number, or a string that holds one\", \"type\": [\"integer\", \"string\"], \"minimum\": 0},"
    print "    \"number\": {\"description\": \"A number, or a string that holds one: inf, nan, 0xffffffffffffffff, 0f7fc00000\", \"type\": [\"number\", \"string\"]},"
    print "    \"shape\": {\"description\": \"A number, or a list of one to three\", \"anyOf\": [{\"type\": \"integer\", \"minimum\": 1}, {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/whole\"}, \"minItems\": 1, \"maxItems\": 3}]},"
    print "    \"type\": {\"enum\": [" types "]},"
    print "    \"init\": {\"anyOf\": [{\"const\": \"iota\"}, {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/number\"}}, {\"$ref\": \"#/$defs/const\"}, {\"$ref\": \"#/$defs/hash\"}, {\"$ref\": \"#/$defs/data\"}]},"
    print "    \"argument\": {" several("scalar buffer struct same tensormap texture surface") "}"
    for (k = 2; k <= objects; k++)
        print "    ,\"" object[k] "\": {\n      \"title\": \"" title[object[k]] "\",\n" body(object[k], "      ") "\n    }"
    print "  }"
    print "}"
}
# The element types, of lib/data/element_type.c
/^    \{"[a-z0-9]+", "[<|]/ { types = types (types ? ", " : "") "\"" $2 "\"" }
