/* parse.y - the grammar of PTX.
 *
 * It covers directives and punctuation, but no individual instructions. An instruction is a name,
 * dotted words and operands, regardless of their spelling (PTX ISA 9.0, chapters 4, 5, 10 and 11).
 * The actions call symbols.c, declaration.c, function.c and statement.c directly, so there is no
 * second tree to traverse. Plain instructions, the majority of a module, bypass the grammar
 * (fast_path.c). After a syntax error parsing resumes after the next ';' or block, and outside
 * functions at the next function. */
%code top {
#include "config.h"
}

%code requires {
#include "ptx/internal.h"
typedef void *yyscan_t;
}

%code {
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"

int pl_ptx_yylex(YYSTYPE *value, YYLTYPE *at, yyscan_t scanner);
void pl_ptx_lex_plain(yyscan_t scanner);
char *pl_ptx_yyget_text(yyscan_t scanner);
static void pl_ptx_yyerror(YYLTYPE *at, yyscan_t scanner, pl_parse *p, const char *message);

/* Where a statement may begin, plain ones are parsed without the grammar (fast_path.c), unless the
 * parser has already read a lookahead token. */
#define PLAIN                                                                 \
    do {                                                                      \
        if (yychar == PL_PTX_YYEMPTY) pl_ptx_lex_plain(scanner);                     \
    } while (0)

/* The location of a rule: from its first token to the last one on the same line. */
#define YYLLOC_DEFAULT(current, rhs, n)                                       \
    do {                                                                      \
        if (n) {                                                              \
            (current) = YYRHSLOC(rhs, 1);                                     \
            if (n > 1 && YYRHSLOC(rhs, n).line == (current).line)             \
                (current).length = YYRHSLOC(rhs, n).column +                  \
                                   YYRHSLOC(rhs, n).length - (current).column; \
        } else {                                                              \
            (current) = YYRHSLOC(rhs, 0);                                     \
        }                                                                     \
    } while (0)
}

%define api.pure full
%define api.prefix {pl_ptx_yy}
%define api.location.type {pl_loc}
%define parse.error custom
%locations
%param { yyscan_t scanner }
%parse-param { struct pl_parse *p }

%union {
    struct pl_sym *sym;
    struct pl_number num;
    struct { const char *at; uint32_t n; } str;
    uint32_t node;
    int op;
}

%token END 0            "the end of the file"
%token <sym> T_NAME     "a name"
%token <sym> T_WORD     "a modifier or type"
%token T_SINK           "'_'"
%token <num> T_INT      "an integer"
%token <num> T_FLOAT    "a floating-point number"
%token <str> T_STRING   "a string"
%token T_SHL "'<<'" T_SHR "'>>'" T_LE "'<='" T_GE "'>='" T_EQ "'=='" T_NE "'!='"
%token T_ANDAND "'&&'" T_OROR "'||'"

%token <sym> T_VERSION ".version" T_TARGET ".target" T_ADDRESS_SIZE ".address_size"
%token <sym> T_FILE ".file" T_LOC ".loc" T_SECTION ".section" T_PRAGMA ".pragma" T_ALIAS ".alias"
%token <sym> T_ENTRY ".entry" T_FUNC ".func"
%token <sym> T_REG ".reg" T_CONST ".const" T_GLOBAL ".global" T_LOCAL ".local"
%token <sym> T_PARAM ".param"
%token <sym> T_SHARED ".shared" T_TEX ".tex"
%token <sym> T_EXTERN ".extern" T_VISIBLE ".visible" T_WEAK ".weak" T_COMMON ".common"
%token <sym> T_ALIGN ".align" T_PTR ".ptr" T_HIDDEN ".hidden" T_ATTRIBUTE ".attribute"
%token <sym> T_BRANCHTARGETS ".branchtargets" T_CALLTARGETS ".calltargets"
%token <sym> T_CALLPROTOTYPE ".callprototype"
%token <sym> T_PERF "a directive of the function"
%token <sym> T_LANGUAGE ".language" T_LOC_INTERMEDIATE ".loc_intermediate"
%token <sym> T_INTERMEDIATE ".nv_intermediate_source_section"

%type <sym> word dotted_space
%type <node> expr primary operand operands operand_list paren_list vector address integers
%type <op> space
%type <sym> opcode

/* A heading ends where nothing of it follows: ptxas needs no ';' after a declaration. */
%precedence BARE
%precedence T_PRAGMA error

%precedence '?'
%precedence ':'
%left T_OROR
%left T_ANDAND
%left '|'
%left '^'
%left '&'
%left T_EQ T_NE
%left '<' '>' T_LE T_GE
%left T_SHL T_SHR
%left '+' '-'
%left '*' '/' '%'
%precedence UNARY

%%

module
    : %empty
    | module item
    ;

item
    : T_VERSION T_FLOAT                 { pl_module_version(p, &$2, @2); }
    | T_TARGET targets                  { pl_module_target_done(p, @1); }
    | T_ADDRESS_SIZE T_INT              { pl_module_address_size(p, &$2, @2); }
    | T_FILE T_INT T_STRING file_tail   { pl_module_file(p, &$2, $3.at, $3.n, @2); }
    | T_SECTION                         { pl_module_started(p, @1); }
    | T_INTERMEDIATE                    { pl_module_intermediate(p, @1); }
    | T_PRAGMA strings ';'
    | T_ALIAS T_NAME ',' T_NAME ';'     { pl_module_alias(p, $2, @2, $4, @4); }
    | linkages variable
    | register_list
    | function
    | error ';'                         { pl_module_abandon(p); yyerrok; }
    | error '}'                         { pl_module_abandon(p); }
    | error T_TARGET                    { pl_module_abandon(p); yyerrok; }
      targets                           { pl_module_target_done(p, @2); }
    ;

targets
    : T_NAME                            { pl_module_target(p, $1, @1); }
    | targets ',' T_NAME                { pl_module_target(p, $3, @3); }
    ;

file_tail
    : %empty
    | ',' T_INT
    | ',' T_INT ',' T_INT
    ;

strings
    : string
    | strings ',' string
    ;

string
    : T_STRING                          { pl_func_pragma(p, $1.at, $1.n, @1); }
    ;

loc
    : T_LOC T_INT T_INT T_INT loc_tail  { pl_stmt_loc(p, &$2, &$3, &$4, @1); }
    ;

loc_intermediate
    : T_LOC_INTERMEDIATE T_INT T_INT T_INT
                                        { pl_stmt_loc_intermediate(p, &$2, &$3, &$4, @1); }
    ;

loc_tail
    : %empty
    | ',' T_NAME T_NAME loc_offset ',' T_NAME T_INT T_INT T_INT
                                         { pl_stmt_inlined(p, $2, @2, $3, @3, $6, @6,
                                                            &$7, &$8, &$9, @7); }
    ;

loc_offset
    : %empty
    | '+' T_INT
    ;

/* ---- functions ---- */

linkages
    : %empty
    | linkages T_EXTERN                 { pl_linkage_add(p, PL_LINK_EXTERN, @2); }
    | linkages T_VISIBLE                { pl_linkage_add(p, PL_LINK_VISIBLE, @2); }
    | linkages T_WEAK                   { pl_linkage_add(p, PL_LINK_WEAK, @2); }
    | linkages T_COMMON                 { pl_linkage_add(p, PL_LINK_COMMON, @2); }
    | linkages T_ATTRIBUTE              { p->leading = true; }
      '(' attribute_list ')'
        { p->leading = false; } /* ptxas accepts attributes of variables here as well */
    ;

function
    : head ';'                          { pl_func_prototype(p, @1); }
    | head %prec BARE                   { pl_func_prototype(p, @1); }
    | head '{'                          { pl_func_body(p, @2); }
      body '}'                          { pl_func_end(p, @5); }
    | entry error ';'                   { pl_func_abandon(p); yyerrok; }
    | func error ';'                    { pl_func_abandon(p); yyerrok; }
    | entry error '{'                   { pl_func_broken(p); yyerrok; }
      body '}'                          { pl_func_end(p, @6); }
    | func error '{'                    { pl_func_broken(p); yyerrok; }
      body '}'                          { pl_func_end(p, @6); }
    | head error ';'                    { pl_func_abandon(p); yyerrok; }
    | head error '{'                    { pl_func_broken(p); yyerrok; }
      body '}'                          { pl_func_end(p, @6); }
    ;

entry
    : linkages T_ENTRY                  { pl_func_begin(p, true, @2); }
    | error T_ENTRY
        { pl_module_abandon(p); yyerrok; pl_func_begin(p, true, @2); }
    ;

func
    : linkages T_FUNC                   { pl_func_begin(p, false, @2); }
    | error T_FUNC
        { pl_module_abandon(p); yyerrok; pl_func_begin(p, false, @2); }
    ;

head
    : entry T_NAME                      { pl_func_name(p, $2, @2); }
      parameters directives %prec BARE
    | func attributes results T_NAME    { pl_func_name(p, $4, @4); }
      parameters directives %prec BARE
    ;

attributes
    : %empty
    | attributes attribute
    ;

attribute
    : T_ATTRIBUTE '(' attribute_list ')'
    ;

attribute_list
    : attribute_item
    | attribute_list ',' attribute_item
    ;

attribute_item
    : T_WORD                            { pl_decl_attribute(p, $1, 0, @1); }
    | T_WORD '(' integers ')'           { pl_decl_attribute(p, $1, $3, @1); pl_nodes_reset(p); }
    ;

results
    : %empty
    | '('                               { p->in_rets = true; }
      parameter_list ')'                { p->in_rets = false; }
    ;

parameters
    : %empty
    | '(' parameter_list ')'
    ;

parameter_list
    : %empty
    | some_parameters
    ;

some_parameters
    : parameter
    | some_parameters ',' parameter
    ;

parameter
    : T_PARAM                           { pl_decl_begin(p, PL_SP_PARAM, @1); }
      decl_words parameter_name
    | T_HIDDEN T_PARAM
        { pl_decl_hidden(p, @1); pl_decl_begin(p, PL_SP_PARAM, @2); }
      decl_words parameter_name
    | T_REG                             { pl_decl_begin(p, PL_SP_REG, @1); }
      decl_words parameter_name
    ;

parameter_name
    : T_NAME dims                       { pl_decl_param(p, $1, @1); }
    | T_SINK dims                       { pl_decl_param(p, NULL, @1); }
    ;

directives
    : %empty
    | directives T_PERF                 { pl_func_perf(p, $2, 0, @2); }
    | directives T_PERF integers        { pl_func_perf(p, $2, $3, @2); pl_nodes_reset(p); }
    | directives T_LANGUAGE             { pl_func_language(p, @2); }
      languages
    | directives T_PRAGMA               { p->in_directives = true; }
      strings ';'                       { p->in_directives = false; }
    ;

languages
    : language
    | languages ',' language
    ;

language
    : T_STRING                          { pl_func_language_name(p, $1.at, $1.n, @1); }
    | T_INT                             { pl_func_language_number(p, &$1, @1); }
    ;

/* ---- statements ---- */

body
    : %empty                            { PLAIN; }
    | body statement                    { PLAIN; }
    ;

statement
    : '{'                               { pl_scope_open(p, @1); }
      body '}'                          { pl_scope_close(p); }
    | register_list
    | linkages variable
    | loc
    | loc_intermediate
    | T_PRAGMA strings ';'
    | T_NAME ':'                        { pl_label_define(p, $1, @1); }
    | T_NAME ':' T_BRANCHTARGETS        { pl_table_begin(p, $1, PL_TAB_BRANCH, @1); }
      targets_list ';'                  { pl_table_end(p); }
    | T_NAME ':' T_CALLTARGETS          { pl_table_begin(p, $1, PL_TAB_CALL, @1); }
      targets_list ';'                  { pl_table_end(p); }
    | T_NAME ':' T_CALLPROTOTYPE        { pl_table_begin(p, $1, PL_TAB_PROTO, @1); }
      results prototype_name parameters directives ';'
                                        { pl_table_end(p); }
    | opcode operands ';'               { pl_stmt_insn(p, NULL, false, @1, $1, @1, $2); }
    | '@' T_NAME opcode operands ';'    { pl_stmt_insn(p, $2, false, @2, $3, @3, $4); }
    | '@' '!' T_NAME opcode operands ';' { pl_stmt_insn(p, $3, true, @3, $4, @4, $5); }
    | error ';'
        { p->func_has_syntax_error = true; p->proto = NULL; pl_nodes_reset(p); yyerrok; }
    ;

targets_list
    : T_NAME                            { pl_table_add(p, $1, @1); }
    | targets_list ',' T_NAME           { pl_table_add(p, $3, @3); }
    ;

prototype_name
    : T_SINK
    ;

opcode
    : T_NAME                            { pl_stmt_words(p); }
      words                             { $$ = $1; }
    ;

words
    : %empty
    | words word                        { pl_stmt_word(p, $2, @2); }
    ;

word
    : T_WORD
    | dotted_space
    | T_WEAK
    | T_REG
    | T_ALIAS
    ;

/* Directives that are also spelled as modifiers. */
dotted_space
    : T_CONST
    | T_GLOBAL
    | T_LOCAL
    | T_PARAM
    | T_SHARED
    | T_TEX
    ;

operands
    : %empty                            { $$ = 0; }
    | operand_list
    ;

operand_list
    : operand                           { $$ = pl_node_list(p, 0, $1); }
    | operand_list ',' operand          { $$ = pl_node_list(p, $1, $3); }
    ;

operand
    : expr
    | vector
    | vector '|' primary                { $$ = pl_node_pair(p, $1, $3, @$); }
    | address
    ;

/* ---- expressions and operands ---- */

integers
    : T_INT                             { $$ = pl_node_list(p, 0, pl_node_number(p, &$1, @1)); }
    | integers ',' T_INT                { $$ = pl_node_list(p, $1, pl_node_number(p, &$3, @3)); }
    ;

expr
    : primary
    | '-' expr %prec UNARY              { $$ = pl_node_unary(p, '-', $2, @$); }
    | '+' expr %prec UNARY              { $$ = pl_node_unary(p, '+', $2, @$); }
    | '!' expr %prec UNARY              { $$ = pl_node_unary(p, '!', $2, @$); }
    | '~' expr %prec UNARY              { $$ = pl_node_unary(p, '~', $2, @$); }
    | '(' T_WORD ')' expr %prec UNARY   { $$ = pl_node_cast(p, $2, $4, @2); }
    | expr '*' expr                     { $$ = pl_node_binary(p, '*', $1, $3, @$); }
    | expr '/' expr                     { $$ = pl_node_binary(p, '/', $1, $3, @$); }
    | expr '%' expr                     { $$ = pl_node_binary(p, '%', $1, $3, @$); }
    | expr '+' expr                     { $$ = pl_node_binary(p, '+', $1, $3, @$); }
    | expr '-' expr                     { $$ = pl_node_binary(p, '-', $1, $3, @$); }
    | expr T_SHL expr                   { $$ = pl_node_binary(p, T_SHL, $1, $3, @$); }
    | expr T_SHR expr                   { $$ = pl_node_binary(p, T_SHR, $1, $3, @$); }
    | expr '<' expr                     { $$ = pl_node_binary(p, '<', $1, $3, @$); }
    | expr '>' expr                     { $$ = pl_node_binary(p, '>', $1, $3, @$); }
    | expr T_LE expr                    { $$ = pl_node_binary(p, T_LE, $1, $3, @$); }
    | expr T_GE expr                    { $$ = pl_node_binary(p, T_GE, $1, $3, @$); }
    | expr T_EQ expr                    { $$ = pl_node_binary(p, T_EQ, $1, $3, @$); }
    | expr T_NE expr                    { $$ = pl_node_binary(p, T_NE, $1, $3, @$); }
    | expr '&' expr                     { $$ = pl_node_binary(p, '&', $1, $3, @$); }
    | expr '^' expr                     { $$ = pl_node_binary(p, '^', $1, $3, @$); }
    | expr '|' expr                     { $$ = pl_node_binary(p, '|', $1, $3, @$); }
    | expr T_ANDAND expr                { $$ = pl_node_binary(p, T_ANDAND, $1, $3, @$); }
    | expr T_OROR expr                  { $$ = pl_node_binary(p, T_OROR, $1, $3, @$); }
    | expr '?' expr ':' expr            { $$ = pl_node_ternary(p, $1, $3, $5, @$); }
    ;

primary
    : T_INT                             { $$ = pl_node_number(p, &$1, @1); }
    | T_FLOAT                           { $$ = pl_node_number(p, &$1, @1); }
    | T_NAME                            { $$ = pl_node_name(p, $1, @1); }
    | T_NAME word                       { $$ = pl_node_select(p, pl_node_name(p, $1, @1), $2, @2); }
    | T_NAME '[' expr ']'
        { $$ = pl_node_element(p, pl_node_name(p, $1, @1), $3, @$); }
    | T_NAME '(' expr ')'               { $$ = pl_node_call(p, pl_node_name(p, $1, @1), $3, @1); }
    | T_INT '(' expr ')'
        { $$ = pl_node_call(p, pl_node_number(p, &$1, @1), $3, @1); }
    | T_SINK                            { $$ = pl_node_new(p, PL_N_SINK, @1); }
    | paren_list
    ;

paren_list
    : '(' ')'                           { $$ = pl_node_close(p, PL_N_LIST, 0, @$); }
    | '(' operand_list ')'                     { $$ = pl_node_close(p, PL_N_LIST, $2, @$); }
    ;

vector
    : '{' operand_list '}'                     { $$ = pl_node_close(p, PL_N_VEC, $2, @$); }
    ;

address
    : '[' operand_list ']'                     { $$ = pl_node_close(p, PL_N_ADDR, $2, @$); }
    ;

/* ---- declarations ---- */

space
    : T_CONST                           { $$ = PL_SP_CONST; }
    | T_GLOBAL                          { $$ = PL_SP_GLOBAL; }
    | T_LOCAL                           { $$ = PL_SP_LOCAL; }
    | T_PARAM                           { $$ = PL_SP_PARAM; }
    | T_SHARED                          { $$ = PL_SP_SHARED; }
    | T_TEX                             { $$ = PL_SP_TEX; }
    ;

variable
    : space                             { pl_decl_begin(p, (pl_space)$1, @1); }
      bank decl_words variables ';'
    ;

bank
    : %empty
    | '[' T_INT ']'                     { pl_decl_bank(p, @1); }
    ;

decl_words
    : %empty
    | decl_words decl_word
    ;

decl_word
    : T_WORD                            { pl_decl_word(p, $1, @1); }
    | T_ALIGN T_INT                     { pl_decl_align(p, &$2, @2); }
    | T_PTR                             { pl_decl_ptr(p, @1); }
    | space                             { pl_decl_space(p, (pl_space)$1, @1); }
    | attribute
    ;

register_list
    : T_REG                             { pl_decl_begin(p, PL_SP_REG, @1); }
      decl_words registers ';'
    ;

registers
    : register
    | registers ',' register
    ;

register
    : T_NAME                            { pl_decl_reg(p, $1, @1); }
    | T_NAME '<' T_INT '>'              { pl_decl_range(p, $1, &$3, @1, @3); }
    ;

variables
    : declarator
    | variables ',' declarator
    ;

declarator
    : T_NAME dims                       { pl_decl_var(p, $1, @1); pl_decl_var_done(p, @1); }
    | T_NAME '<' T_INT '>'              { pl_decl_vars(p, $1, &$3, @1); }
    | T_NAME dims '='                   { pl_decl_var(p, $1, @1); pl_init_begin(p, @1); }
      initialiser                       { pl_init_end(p, @1); }
    ;

dims
    : %empty                            { p->ndims = 0; p->dims_open = false; }
    | dims '[' ']'                      { pl_decl_dim(p, 0, @2); }
    | dims '[' expr ']'                 { pl_decl_dim(p, $3, @3); pl_nodes_reset(p); }
    ;

initialiser
    : init_scalar
    | init_braces
    ;

init_braces
    : '{'                               { pl_init_open(p, @1); }
      init_list '}'                     { pl_init_close(p, @4); }
    ;

init_list
    : %empty
    | some_init
    ;

some_init
    : init_item
    | some_init ',' init_item
    ;

init_item
    : init_scalar
    | init_braces
    | T_NAME '=' expr                   { pl_init_property(p, $1, $3, @1); pl_nodes_reset(p); }
    ;

init_scalar
    : init_expr
    | T_STRING                          { pl_init_string(p, $1.at, $1.n, @1); }
    ;

init_expr
    : expr                              { pl_init_value(p, $1); pl_nodes_reset(p); }
    ;

%%
/* Reports the tokens that bison expected, as named in %token; once per statement, since the rest of
 * it is skipped. */
static int yyreport_syntax_error(const yypcontext_t *context, yyscan_t scanner, pl_parse *p)
{
    if (!pl_parse_ok(p)) return 0; /* out of memory: the text ends early (lex.l) */
    enum { MOST = 5 };
    yysymbol_kind_t expected[MOST + 1];
    int n = yypcontext_expected_tokens(context, expected, MOST + 1);
    const char *wanted = "";
    if (n > MOST && p->func && p->depth == 1 && p->func->prototype_only) {
        /* any module item may follow a heading */
        n = 0;
        wanted = "';' or '{'";
    }
    yysymbol_kind_t token = yypcontext_token(context);
    const pl_loc *at = yypcontext_location(context);
    const char *what = token == YYSYMBOL_YYEMPTY ? "this" : yysymbol_name(token);
    /* a word that is no directive: its text says more than the name of the token */
    if (token == YYSYMBOL_T_WORD)
        what = pl_arena_printf(p->arena, "'%.60s'", pl_ptx_yyget_text(scanner));
    for (int k = 0; n <= MOST && k < n; k++)
        wanted = pl_arena_printf(p->arena, "%s%s%s", wanted,
                                 k == 0 ? "" : k + 1 == n ? " or " : ", ",
                                 yysymbol_name(expected[k]));
    pl_report(p->diags, PL_E0100, *at, what)->help =
        *wanted                     ? pl_arena_printf(p->arena, "expected %s", wanted)
        : token == YYSYMBOL_T_WORD ? "no directive, modifier or type with this name may be here"
                                    : NULL;
    p->func_has_syntax_error = true;
    return 0;
}

/* Called when the parser's stack is full: nesting beyond YYMAXDEPTH. */
static void pl_ptx_yyerror(YYLTYPE *at, yyscan_t scanner, pl_parse *p, const char *message)
{
    (void)scanner;
    (void)message;
    p->max_depth_reported = 1;
    pl_report(p->diags, PL_E0108, *at, (int)PL_MAX_NESTING);
}
