import type { Colors } from './options.ts'

/** The relative luminance of a colour. @see WCAG 2.2, definition of relative luminance */
function luminanceOf(color: string): number {
  const channels = [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16) / 255)
  const [red = 0, green = 0, blue = 0] = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Black or white, whichever is easier to read on the colour. The contrast is at least 4.5. */
const textOn = (color: string): string => (luminanceOf(color) > 0.179 ? '#000' : '#fff')

const base = `
*,*::before,*::after{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100dvh;display:grid;grid-template-rows:1fr auto;justify-items:center;align-items:center;gap:1.5rem;padding:1.5rem 1rem;background:var(--page);color:var(--text);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
main{width:100%;max-width:27rem;padding:clamp(1.5rem,7vw,2.5rem);background:var(--card);border:1px solid var(--line);border-radius:1rem;box-shadow:0 1px 2px rgb(0 0 0/.05),0 1rem 2.5rem rgb(0 0 0/.07)}
header{display:flex;align-items:center;gap:.625rem;margin-block-end:1.75rem;font-weight:600;color:var(--muted)}
header img{max-width:100%;max-height:2.5rem}
h1{margin:0;font-size:1.5rem;line-height:1.25;letter-spacing:-.01em;text-wrap:balance}
p{margin:.5rem 0 0}
.muted{color:var(--muted)}
.client{display:flex;align-items:center;gap:.75rem;margin-block:.75rem 1rem;color:var(--muted)}
.logo{display:block;flex:none;width:2.5rem;height:2.5rem;overflow:hidden;border-radius:.5rem;background:#fff;line-height:2.5rem;text-align:center}
.logo img{height:2.5rem;max-width:100%;object-fit:contain;vertical-align:top}
.logo span{display:inline-block;width:100%;color:var(--on-accent);background:var(--accent);font-size:1.25rem;font-weight:600;vertical-align:top}
form{margin:1.5rem 0 0}
fieldset{margin:0;padding:0;border:0;min-width:0}
legend{padding:0}
legend+p{margin:0}
label{display:block;margin:1rem 0 .375rem;font-weight:500}
input{display:block;width:100%;min-height:2.875rem;padding:.5rem .75rem;font:inherit;color:inherit;background:var(--field);border:1px solid var(--edge);border-radius:.5rem}
.check{display:flex;align-items:center;gap:.625rem;margin-block-start:1rem}
.check input{flex:none;width:1.5rem;min-height:1.5rem;margin:0;accent-color:var(--accent)}
.check label{flex:1;margin:0;font-weight:400}
li.check{margin:0;padding:0}
li.check label{padding:.75rem 0}
li small{display:block;font-size:.875rem;color:var(--muted)}
#user_code{font-size:1.25rem;letter-spacing:.12em;text-align:center;text-transform:uppercase}
button{display:block;width:100%;min-height:2.875rem;margin:.75rem 0 0;padding:.5rem 1rem;font:inherit;font-weight:600;color:var(--text);background:transparent;border:1px solid var(--edge);border-radius:.5rem;cursor:pointer}
button.primary{margin-block-start:1.5rem;color:var(--on-accent);background:var(--accent);border-color:var(--accent)}
button.quiet{font-weight:400;color:var(--link);border-color:transparent}
button:hover{filter:brightness(.94)}
.ways{margin-block-start:1.5rem}
.way{display:block;min-height:2.875rem;margin:.75rem 0 0;padding:.625rem 1rem;font-weight:600;text-align:center;text-decoration:none;color:var(--text);border:1px solid var(--edge);border-radius:.5rem}
.way:hover{background:var(--page)}
.or{display:flex;align-items:center;gap:.75rem;margin-block:1.25rem 0;font-size:.875rem;color:var(--muted)}
.or::before,.or::after{content:"";flex:1;border-block-start:1px solid var(--line)}
.or+form{margin-block-start:0}
button.account{display:flex;align-items:center;gap:.75rem;text-align:start}
[hidden]{display:none}
.initial{display:grid;place-items:center;flex:none;width:2rem;height:2rem;border-radius:50%;color:var(--on-accent);background:var(--accent)}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
[role=alert]{margin:1.25rem 0 0;padding:.75rem 1rem;color:var(--alert);background:var(--alert-page);border:1px solid currentColor;border-radius:.5rem}
ul{margin:1rem 0 0;padding:0;list-style:none;border-block-start:1px solid var(--line)}
li{padding:.75rem 0;border-block-end:1px solid var(--line)}
.code{margin-block-start:1rem;font-size:1.75rem;font-weight:700;letter-spacing:.12em;text-align:center}
h2{margin:2rem 0 0;font-size:1.125rem;line-height:1.3}
.entry{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:.25rem 1rem}
.entry div{flex:1 1 12rem;min-width:0}
.entry small,p>small{display:block;font-size:.875rem;color:var(--muted)}
a.change{padding:.25rem 0}
.notice{margin:1.25rem 0 0;padding:.75rem 1rem;border:1px solid var(--line);border-radius:.5rem}
dl{margin:1.5rem 0 0;padding-block-start:1rem;border-block-start:1px solid var(--line);font-size:.875rem;color:var(--muted)}
dt{font-weight:600}
dd{margin:0}
a{color:var(--link)}
footer,.links{display:flex;flex-wrap:wrap;justify-content:center;gap:.25rem 1.25rem;font-size:.875rem}
.links{justify-content:flex-start;margin-block-start:1.5rem}
footer a,.links a{display:inline-block;padding:.25rem 0}
@media (min-width:160rem){html{font-size:1.5rem}}
@media (forced-colors:active){button.primary{border-width:2px}}`

const light = { card: '#ffffff', text: '#15171c', muted: '#565c6b', line: '#e2e5eb', edge: '#8a90a0', field: '#ffffff' }
const dark = { card: '#1a1d23', text: '#eef0f4', muted: '#a6adbb', line: '#333844', edge: '#7b8394', field: '#12141a' }

const variables = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')

/** Returns the style sheet of all pages. */
export function styleSheet({ accent, background }: Colors): string {
  const common = { accent, 'on-accent': textOn(accent) }
  const onLight = { page: background, link: '#1d4fbf', focus: '#1d4fbf', alert: '#a3191f', 'alert-page': '#fdeeee' }
  const onDark = { page: '#0f1115', link: '#9dbcff', focus: '#9dbcff', alert: '#ffb3ae', 'alert-page': '#361718' }
  return (
    `:root{color-scheme:light dark;${variables({ ...common, ...light, ...onLight })}}` +
    `@media (prefers-color-scheme:dark){:root{${variables({ ...dark, ...onDark })}}}` +
    base.replaceAll('\n', '')
  )
}
