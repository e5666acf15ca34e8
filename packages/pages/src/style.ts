import { colorRules } from './colors.ts'
import type { Colors } from './pages-options.ts'

/** The scales of all pages: spaces, sizes of text, controls. */
const scales = `
:root{--s1:.25rem;--s2:.5rem;--s3:.75rem;--s4:1rem;--s5:1.5rem;--s6:2rem;--small:.875rem;--large:1.25rem;--title:1.5rem;--display:1.75rem;--control:2.875rem;--round:.625rem}`

const frame = `
*,*::before,*::after{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100dvh;display:grid;grid-template-rows:1fr auto;justify-items:center;align-items:center;gap:var(--s5);padding:var(--s5) var(--s4);background:var(--page);color:var(--text);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere;-webkit-text-size-adjust:100%}
main{width:100%;max-width:27rem;padding:2.5rem;background:var(--card);border:1px solid var(--line);border-radius:1rem;box-shadow:0 1px 2px rgb(0 0 0/.05),0 1rem 2.5rem rgb(0 0 0/.07)}
header{display:flex;align-items:center;gap:.625rem;margin-block-end:var(--s6);font-weight:600;color:var(--muted)}
header img{max-width:100%;max-height:2.5rem}
footer,.links{display:flex;flex-wrap:wrap;justify-content:center;gap:var(--s1) 1.25rem;font-size:var(--small)}
.links{justify-content:flex-start;margin-block-start:var(--s5)}
footer a,.links a{display:inline-block;padding:var(--s1) 0}
[hidden]{display:none!important}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}`

const texts = `
h1{margin:0;line-break:strict;font-size:var(--title);font-weight:650;line-height:1.25;letter-spacing:-.01em;text-wrap:balance}
h2{margin:var(--s6) 0 0;font-size:1.125rem;line-height:1.3}
h1 bdi{display:inline-block;max-width:100%}
:lang(ja){word-break:auto-phrase}
:lang(ko){word-break:keep-all}
p{margin:var(--s2) 0 0;text-wrap:pretty}
code{padding:.1em .3em;border-radius:.25rem;background:var(--hover);font:.9375em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.codes code,#key{padding:0;background:none;font-size:inherit}
.codes code{font-weight:600}
details{margin-block-start:var(--s2)}
summary{width:fit-content;max-width:100%;padding-block:var(--s1);cursor:pointer;color:var(--link);font-size:var(--small)}
details p{font-size:var(--small);color:var(--muted)}
.origin{margin-block-start:var(--s4)}
.origin p:first-child{margin:0}
.origin strong{font-weight:600}
a{color:var(--link);text-underline-offset:.15em}
a:hover{text-decoration-thickness:2px}
small{font-size:var(--small);color:var(--muted)}
.muted{color:var(--muted)}
.title{display:flex;align-items:center;gap:var(--s4);min-width:0}
.title>div{min-width:0}
.client{display:flex;align-items:center;gap:var(--s3);margin-block-start:var(--s1);color:var(--muted)}
h1+.client{display:block}
.logo{display:block;flex:none;width:3rem;height:3rem;overflow:hidden;border-radius:var(--round);background:#fff;line-height:3rem;text-align:center}
.logo img{height:3rem;max-width:100%;object-fit:contain;vertical-align:top}
.logo span{display:inline-block;width:100%;color:var(--on-accent);background:var(--accent);font-size:var(--large);font-weight:600;vertical-align:top}
.initial{display:grid;place-items:center;flex:none;width:2rem;height:2rem;border-radius:50%;color:var(--on-accent);background:var(--accent)}
.user{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:0 var(--s3);margin-block-start:var(--s4);padding:var(--s2) var(--s3);border:1px solid var(--line);border-radius:var(--round);color:var(--muted)}
.user p{margin:0}
[role=alert]{margin:1.25rem 0 0;padding:var(--s3) var(--s4);color:var(--alert);background:var(--alert-page);border:1px solid;border-radius:var(--round)}
ul{margin:var(--s4) 0 0;padding:0;list-style:none;border-block-start:1px solid var(--line)}
li{padding:var(--s3) 0;border-block-end:1px solid var(--line)}
li small{display:block}
dl{margin:var(--s5) 0 0;padding-block-start:var(--s4);border-block-start:1px solid var(--line);font-size:var(--small);color:var(--muted)}
dt{font-weight:600}
dd{margin:0}
.code{margin-block-start:var(--s4);padding:var(--s3);font-size:var(--display);font-weight:700;letter-spacing:.12em;text-align:center;background:var(--hover);border-radius:var(--round)}
.codes{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:0 var(--s4);font:600 1rem/1.5 ui-monospace,monospace}
.entry{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:var(--s1) var(--s4)}
.changes{display:flex;flex-wrap:wrap;gap:0 var(--s4)}
h2+.links{margin-block-start:var(--s2)}
.notice+p,.user+p,#user+p{margin-block-start:var(--s4)}
.entry div{flex:1 1 12rem;min-width:0}
.entry small,p>small{display:block}
a.change{padding:var(--s1) 0;font-size:var(--small)}
.notice{margin:1.25rem 0 0;padding:var(--s3) var(--s4);border:1px solid var(--line);border-radius:var(--round)}
.or{display:flex;align-items:center;gap:var(--s3);margin-block:1.25rem 0;font-size:var(--small);color:var(--muted)}
.or::before,.or::after{content:"";flex:1;border-block-start:1px solid var(--line)}
.aside{margin-block-start:var(--s5);text-align:center;color:var(--muted)}
.icon{flex:none;width:1.25rem;height:1.25rem;fill:currentColor}
.icon.line{fill:none;stroke:currentColor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}`

const fields = `
form{margin:var(--s5) 0 0}
fieldset{margin:var(--s4) 0 0;padding:0;border:0;min-width:0}
legend{padding:0}
legend+p{margin:0}
label{display:block;margin:var(--s4) 0 .375rem;font-weight:500}
input{display:block;width:100%;min-height:var(--control);padding:var(--s2) var(--s3);font:inherit;color:inherit;background:var(--field);border:1px solid var(--edge);border-radius:var(--round)}
input:hover{border-color:var(--text)}
input:user-invalid,input[aria-invalid=true]{border-color:var(--alert)}
input:disabled{opacity:.6}
.check{display:flex;align-items:center;gap:.625rem;margin-block-start:var(--s4)}
.check input{flex:none;width:1.5rem;min-height:1.5rem;margin:0;accent-color:var(--accent)}
.check label{flex:1;margin:0;font-weight:400}
li.check{margin:0;padding:0}
li.check label{padding:var(--s3) 0}
.secret{display:grid;grid-template-columns:minmax(min-content,1fr) auto;align-items:baseline;column-gap:var(--s4)}
.secret>label{overflow-wrap:normal}
.secret .field,.secret .caps{grid-column:1/-1;grid-row:2}
.secret .caps{grid-row:3}
.secret .beside{grid-column:2;grid-row:1;margin:0;font-size:var(--small)}
.field{position:relative}
.field input{padding-inline-end:3.25rem}
.field:has(.reveal:not([hidden])) ::-ms-reveal{display:none}
.reveal{position:absolute;inset-block:1px;inset-inline-end:1px;width:2.75rem;min-height:0;margin:0;padding:0;color:var(--muted);border-color:transparent;background:transparent}
.reveal .off,.reveal[aria-pressed=true] .on{display:none}
.reveal[aria-pressed=true] .off{display:block}
.caps{margin:0;font-size:var(--small);color:var(--alert)}
.caps:not(:empty){margin-block-start:.375rem}
#opened:empty{margin:0}
#user_code{font-size:var(--large);letter-spacing:.12em;text-align:center;text-transform:uppercase}
.digits{font-size:var(--large);letter-spacing:.12em}`

const buttons = `
button,.way{text-wrap:balance;display:flex;align-items:center;justify-content:center;gap:.625rem;width:100%;min-height:var(--control);margin:var(--s3) 0 0;padding:var(--s2) var(--s4);font:inherit;font-weight:600;text-align:center;text-decoration:none;color:var(--text);background:var(--card);border:1px solid var(--edge);border-radius:var(--round);cursor:pointer}
button:hover,.way:hover{background:var(--hover)}
button:active,.way:active{background:var(--press)}
button:disabled{opacity:.6;cursor:default}
.primary{margin-block-start:var(--s5);color:var(--on-accent);background:var(--accent);border-color:var(--accent-edge)}
.primary:hover,.primary:active{color:var(--on-accent);background:var(--accent-hover)}
.danger,.danger:hover,.danger:active{color:var(--card);background:var(--alert);border-color:var(--alert)}
.danger:hover{filter:brightness(.9)}
.quiet{font-weight:500;color:var(--muted);border-color:transparent}
.quiet:hover{color:var(--text)}
.small{width:auto;min-height:2.25rem;margin:0;padding:var(--s1) var(--s2);margin-inline-start:calc(var(--s2)*-1);font-size:var(--small);color:var(--link)}
.account{justify-content:flex-start;text-align:start}
.ways,p+.way,.codes+p .way{margin-block-start:var(--s5)}
.onward .way:first-child{color:var(--on-accent);background:var(--accent);border-color:var(--accent-edge)}
.onward .way:first-child:hover{background:var(--accent-hover)}
.or+.ways{margin-block-start:0}
[aria-busy=true] button{cursor:progress}
[data-busy]::after{content:"";flex:none;width:1em;height:1em;border:2px solid;border-inline-end-color:transparent;border-radius:50%}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}`

const media = `
@media (max-width:30rem){body{align-items:start;padding:0;background:var(--card)}main{padding:var(--s5) 1.25rem;border:0;border-radius:0;box-shadow:none}footer{padding:0 1.25rem var(--s5)}}
@media (min-width:160rem){html{font-size:150%}}
@media (prefers-reduced-motion:no-preference){button,.way,input{transition:background-color .12s,border-color .12s}[data-busy]::after{animation:turn .8s linear infinite}@keyframes turn{to{transform:rotate(1turn)}}}
@media (prefers-contrast:more){:root{--muted:var(--text);--edge:var(--text);--line:var(--text)}}
@media (forced-colors:active){:focus-visible{outline-color:Highlight}.primary,[aria-invalid=true]{border-width:2px}.quiet{border-color:ButtonBorder}.logo span,.initial,.code{outline:1px solid;outline-offset:-1px}#qr,.logo img{forced-color-adjust:none}}
@media print{:root{color-scheme:light;--text:#000;--muted:#333;--card:#fff;--line:#999;--hover:#fff}body{display:block;padding:0;background:#fff;color:#000}main{max-width:36rem;margin:0;padding:0;border:0;border-radius:0;box-shadow:none}button,.way,.or,.change,footer,.links{display:none}.codes{grid-template-columns:repeat(2,12rem);font-size:1.125rem}li,#qr{break-inside:avoid}#qr{width:16rem}.logo span,.initial{print-color-adjust:exact}}`

export const styleSheet = (colors: Colors): string =>
  colorRules(colors) + [scales, frame, texts, fields, buttons, media].join('').replaceAll('\n', '')
