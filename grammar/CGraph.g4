// The cgraph language (docs/language.md). One grammar for lexer and parser; the raw text of
// `cuda { … }` is cut out by compiler/parse/token_source.cpp, which hands it over as RAW_BODY.
//
// Operator chains are flat lists here, and compiler/parse/ast_builder.cpp applies precedence, so
// that neither parser nor compiler recurses along a chain.
grammar CGraph;

tokens { RAW_BODY }

file : declaration* EOF ;

declaration
  : importDeclaration
  | constDeclaration
  | paramDeclaration
  | attribute* bufferDeclaration
  | attribute* kernelDeclaration
  | cudaDeclaration
  | defDeclaration
  | attribute* callableDeclaration
  | attribute* graphDeclaration
  ;

importDeclaration : IMPORT (path=STRING | word ('.' word)*) (AS name)? ';' ;

constDeclaration : CONST name '=' expression ';' ;

paramDeclaration : PARAM name ':' scalarType ('=' expression)? ';' ;

bufferDeclaration
  : space=(HOST | DEVICE) access=(IN | OUT | INOUT)? name (',' name)* ':' scalarType shape ';'
  ;

shape : '[' expression (',' expression)* ']' ;

// Modules may give any name: `blas1.copy(…)`.
kernelDeclaration
  : KERNEL word typeParameters? parameters kernelClause* kernelBody (HOST hostBody=RAW_BODY)? ';'?
  ;

typeParameters : '<' typeParameter (',' typeParameter)* '>' ;

typeParameter : name (':' scalarType (',' scalarType)*)? ;

parameters : '(' (parameter (',' parameter)*)? ')' ;

parameter
  : name ':'
    (access=(IN | OUT | INOUT) elementType shape | launch=(TAIL | DETACH | SIBLING) GRAPH | elementType)
  ;

elementType : scalarType | name ;

kernelClause
  : clause=(GRID | BLOCK | SHARED | IDENTIFIER) '(' expression (',' expression)* ')'
  ;

kernelBody : CUDA RAW_BODY | origin=(SOURCE | BINARY) STRING (SYMBOL STRING)? | EXTERNAL ;

cudaDeclaration : CUDA RAW_BODY ';'? ;

callableDeclaration : kind=(CALLBACK | CAPTURED) word parameters ';' ;

defDeclaration : DEF word parameters block ;

graphDeclaration : GRAPH name block ;

block : '{' statement* '}' ;

attribute : '@' word ('(' attributeArgument (',' attributeArgument)* ')')? ;

attributeArgument : STRING | expression ;

statement : attribute* (name ':')? action ;

action
  : copyStatement
  | fillStatement
  | launchStatement
  | assignStatement
  | forStatement
  | ifStatement
  | whileStatement
  | doStatement
  | repeatStatement
  | switchStatement
  | syncStatement
  | handleDeclaration
  | onStatement
  | recordStatement
  | waitStatement
  | startStatement
  | updateStatement
  | scopeStatement
  | bufferDeclaration
  | constDeclaration
  ;

copyStatement : COPY reference '<' '-' reference after? ';' ;

fillStatement : FILL reference '<' '-' expression after? ';' ;

launchStatement : CHILD? qualifiedName geometry? '(' (expression (',' expression)*)? ')' after? ';' ;

geometry : '<<<' extents ',' extents (',' expression)? '>>>' ;

extents : expression | '(' expression (',' expression)+ ')' ;

forStatement : FOR name IN expression '..' expression block (after ';')? ;

assignStatement : reference '=' expression after? ';' ;

ifStatement : IF condition block (ELSE IF condition block)* (ELSE block)? (after ';')? ;

whileStatement : WHILE condition limit? block (after ';')? ;

doStatement : DO block WHILE condition limit? after? ';' ;

repeatStatement : REPEAT condition block (after ';')? ;

switchStatement : SWITCH condition '{' switchCase* '}' (after ';')? ;

condition : '(' expression ')' ;

limit : MAX expression ;

switchCase : (CASE expression (',' expression)* | DEFAULT) ':' block ;

syncStatement : SYNC after? ';' ;

handleDeclaration : kind=(STREAM | EVENT) handle (',' handle)* ';' ;

handle : name ('[' expression ']')? ;

onStatement : ON reference block (after ';')? ;

recordStatement : RECORD reference after? ';' ;

waitStatement : WAIT reference after? ';' ;

// Starts a graph, or `self`, from the device.
startStatement : kind=(TAIL | DETACH | SIBLING) qualifiedName (WHEN condition)? after? ';' ;

// Changes an @updatable launch: `grid(L) = (gx, gy);`, `enable(L) = c;`, `arg(L, p) = e;`
updateStatement : what=(GRID | IDENTIFIER) '(' name (',' name)? ')' '=' extents after? ';' ;

scopeStatement : block (after ';')? ;

after : AFTER name (',' name)* ;

reference : name subscript* ;

subscript : '[' slice (',' slice)* ']' ;

slice : ':' expression? | expression (':' expression?)? ;

expression : chain ('?' expression ':' chain)* ;

// Operands and operators by turns.
chain
  : operand
    (('||' | '&&' | '|' | '^' | '&' | '==' | '!=' | '<' | '<=' | '>' | '>=' | '<<' | '>>' | '+' | '-'
      | '*' | '/' | '%') operand)*
  ;

operand
  : prefix+=('-' | '!' | '~')*
    ( literal=(INTEGER | FLOAT | INFINITE | NOT_A_NUMBER | TRUE | FALSE)
    | qualifiedName ('(' (callArgument (',' callArgument)*)? ')' | subscript+)?
    | scalarType '(' expression ')'
    | '(' expression ')'
    )
  ;

callArgument : expression | scalarType ;

qualifiedName : name ('.' word)? ;

// Any word: behind a dot or an '@' nothing else can stand.
word
  : name | scalarType
  | AFTER | AS | BINARY | CALLBACK | CAPTURED | CASE | CHILD | CONST | COPY | CUDA | DEF | DEFAULT
  | DETACH | DEVICE | DO | ELSE | EVENT | EXTERNAL | FALSE | FILL | FOR | GRAPH | HOST | IF | IMPORT
  | IN | INFINITE | INOUT | KERNEL | NOT_A_NUMBER | ON | OUT | PARAM | RECORD | REPEAT | SIBLING
  | SOURCE | STREAM | SWITCH | SYMBOL | SYNC | TAIL | TRUE | WAIT | WHILE
  ;

// Words that are keywords only where a rule above asks for them.
name : IDENTIFIER | MAX | WHEN | PRIORITY | GRID | BLOCK | SHARED | NAME | SELF | LIKELY ;

scalarType
  : BOOL | I8 | U8 | I16 | U16 | I32 | U32 | I64 | U64 | F16 | BF16 | F32 | F64
  ;

// Reserved words, those of constructs to come included, so that no name has to change.
AFTER : 'after' ;
AS : 'as' ;
BINARY : 'binary' ;
CALLBACK : 'callback' ;
CAPTURED : 'captured' ;
CASE : 'case' ;
CHILD : 'child' ;
CONST : 'const' ;
COPY : 'copy' ;
CUDA : 'cuda' ;
DEF : 'def' ;
DEFAULT : 'default' ;
DETACH : 'detach' ;
DEVICE : 'device' ;
DO : 'do' ;
ELSE : 'else' ;
EVENT : 'event' ;
EXTERNAL : 'external' ;
FALSE : 'false' ;
FILL : 'fill' ;
FOR : 'for' ;
GRAPH : 'graph' ;
HOST : 'host' ;
IF : 'if' ;
IMPORT : 'import' ;
IN : 'in' ;
INFINITE : 'inf' ;
INOUT : 'inout' ;
KERNEL : 'kernel' ;
NOT_A_NUMBER : 'nan' ;
ON : 'on' ;
OUT : 'out' ;
PARAM : 'param' ;
RECORD : 'record' ;
REPEAT : 'repeat' ;
SIBLING : 'sibling' ;
SOURCE : 'source' ;
STREAM : 'stream' ;
SWITCH : 'switch' ;
SYMBOL : 'symbol' ;
SYNC : 'sync' ;
TAIL : 'tail' ;
TRUE : 'true' ;
WAIT : 'wait' ;
WHILE : 'while' ;

CLOSE_BRACE : '}' ;
SEMICOLON : ';' ;
ASSIGN : '=' ;
AT : '@' ;
CLOSE_BRACKET : ']' ;
CLOSE_PARENTHESIS : ')' ;
OPEN_BRACE : '{' ;

BLOCK : 'block' ;
GRID : 'grid' ;
LIKELY : 'likely' ;
MAX : 'max' ;
NAME : 'name' ;
PRIORITY : 'priority' ;
SELF : 'self' ;
SHARED : 'shared' ;
WHEN : 'when' ;

BOOL : 'bool' ;
I8 : 'i8' ;
U8 : 'u8' ;
I16 : 'i16' ;
U16 : 'u16' ;
I32 : 'i32' ;
U32 : 'u32' ;
I64 : 'i64' ;
U64 : 'u64' ;
F16 : 'f16' ;
BF16 : 'bf16' ;
F32 : 'f32' ;
F64 : 'f64' ;

IDENTIFIER : [A-Za-z_] [A-Za-z0-9_]* ;

INTEGER
  : '0'
  | [1-9] ('_'? [0-9])*
  | '0' [xX] HEX_DIGIT ('_'? HEX_DIGIT)*
  | '0' [bB] [01] ('_'? [01])*
  ;

FLOAT
  : DIGITS '.' DIGITS EXPONENT?
  | DIGITS EXPONENT
  | '.' DIGITS EXPONENT?
  ;

STRING : '"' (~["\\\n] | '\\' ~[\n])* '"' ;

// Ends with its line.
UNTERMINATED_STRING : '"' (~["\\\n] | '\\' ~[\n])* ;

// What starts like a number and is none. Both rules above win a tie.
BAD_NUMBER : [0-9] [A-Za-z0-9_]* ;

fragment HEX_DIGIT : [0-9A-Fa-f] ;
fragment DIGITS : [0-9] ('_'? [0-9])* ;
fragment EXPONENT : [eE] [+-]? DIGITS ;

LINE_COMMENT : '//' ~[\n]* -> skip ;
BLOCK_COMMENT : '/*' .*? '*/' -> skip ;
// Has no '*/' in it, or it would be the longer match for every comment.
UNTERMINATED_COMMENT : '/*' (~[*] | '*'+ ~[*/])* '*'* EOF ;
WHITE_SPACE : [ \t\n\f\u000B]+ -> skip ;

// Anything else, so that the lexer itself never fails.
STRAY : . ;
