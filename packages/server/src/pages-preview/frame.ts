import { createHash } from 'node:crypto'
import { escapeHtml } from '@grantry/core'
import { type PreviewState, previewStates } from '@grantry/pages/preview'

/** How a page is shown. */
export interface Shown {
  /** The name of a state. Empty: all of them. */
  readonly state: string
  readonly locale: string
  readonly theme: (typeof themes)[number]
  readonly direction: 'auto' | 'ltr' | 'rtl'
  /** Pixels. */
  readonly width: number
}

type Rendered = ReturnType<PreviewState['render']>

/** A page in a theme and direction that can differ from those of the browser and the language. */
export function shownAs(
  { html, sources }: Rendered,
  { theme, direction }: Pick<Shown, 'theme' | 'direction'>,
): Rendered {
  const directed = direction === 'auto' ? html : html.replace(/(<html[^>]*) dir="\w+"/u, `$1 dir="${direction}"`)
  if (theme === 'auto') return { html: directed, sources }
  const themed = directed
    .replaceAll('(prefers-color-scheme:dark)', theme === 'dark' ? 'all' : 'not all')
    .replaceAll('@media print', theme === 'print' ? '@media all' : '@media print')
    .replace('color-scheme:light dark', `color-scheme:${theme === 'dark' ? 'dark' : 'light'}`)
  const style = [...themed.matchAll(/<style>([^<]*)<\/style>/gu)].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  )
  // The styles of a mail are in its elements.
  return { html: themed, sources: style.length === 0 ? sources : { ...sources, style } }
}

const select = (name: string, values: readonly string[], chosen: string): string =>
  `<label>${name} <select name="${name}">${values.map((value) => `<option value="${value}"${value === chosen ? ' selected' : ''}>${value === '' ? 'all' : value}</option>`).join('')}</select></label>`

export const themes = ['auto', 'light', 'dark', 'print'] as const
export const widths = [320, 390, 768, 1280, 3840] as const

export const queryOf = ({ locale, theme, direction }: Shown): string =>
  new URLSearchParams({ locale, theme, direction }).toString()

function figure(name: string, shown: Shown): string {
  const url = escapeHtml(`/page/${name}?${queryOf(shown)}`)
  return `<figure><figcaption><a href="${url}">${name}</a></figcaption><iframe sandbox="allow-scripts" loading="lazy" title="${name}" src="${url}" width="${shown.width}" height="760"></iframe></figure>`
}

/**
 * The page around the previews. Without scripts, the button shows the choice.
 *
 * @param problem why the operator's files cannot be loaded
 */
export function frameOf(shown: Shown, locales: readonly string[], problem: string | undefined): string {
  const names = previewStates.map(({ name }) => name)
  const shownNames = names.filter((name) => shown.state === '' || name === shown.state)
  const content =
    problem === undefined
      ? shownNames.map((name) => figure(name, shown)).join('')
      : `<p role="alert">${escapeHtml(problem)}</p>`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Preview of the pages</title><link rel="stylesheet" href="/preview.css"><script src="/preview.js" defer></script></head>
<body><h1>Preview of the pages</h1><form>${select('state', ['', ...names], shown.state)}${select('locale', locales, shown.locale)}${select('theme', themes, shown.theme)}${select('direction', ['auto', 'ltr', 'rtl'], shown.direction)}${select('width', widths.map(String), String(shown.width))}<button>Show</button></form><main>${content}</main></body></html>`
}

export const frameStyle = `:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}
body{margin:1rem}h1{margin:0 0 .5rem;font-size:1.25rem}
form{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;padding:.5rem 0;background:Canvas}
main{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;max-width:100%;overflow:auto}
figcaption{padding:.25rem 0}iframe{border:1px solid GrayText}
[role=alert]{padding:1rem;border:2px solid}select,button{font:inherit}`

/** Shows a choice without the button, and everything again when the operator's files have changed. */
export const frameScript = `const form = document.querySelector('form')
form.addEventListener('change', () => form.submit())
form.querySelector('button').hidden = true
new EventSource('/changes').addEventListener('message', () => location.reload())`
