const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeText = (text: string): string => text.replace(/[&<>"']/gu, (character) => escapes[character] ?? '')

const markup = Symbol('markup')

/** Markup that is safe to insert. Only this module creates it, because the symbol is private. */
export interface Html {
  readonly [markup]: string
}

/** What a template can contain. `undefined` and `false` are left out, so that `condition && html` works. */
export type Content = Html | string | number | false | undefined | readonly Content[]

/** Returns the text of a document. */
export const textOf = (document: Html): string => document[markup]

function markupOf(content: Content): string {
  if (content === undefined || content === false) return ''
  if (typeof content === 'string' || typeof content === 'number') return escapeText(String(content))
  return markup in content ? content[markup] : content.map(markupOf).join('')
}

/** A template literal tag that escapes every value, in text and in quoted attributes. */
export const html = (strings: TemplateStringsArray, ...values: readonly Content[]): Html => ({
  [markup]: strings.map((text, index) => text + markupOf(values[index])).join(''),
})

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u

/** Puts a value into an element of its own if its direction differs from that of the text. */
const isolatedIn = (text: string, value: string): Content =>
  rightToLeft.test(text) || rightToLeft.test(value) ? html`<bdi>${value}</bdi>` : value

/** Replaces the names in braces. A Latin name does not change the direction of an Arabic text, and the reverse. */
export function filled(
  text: string,
  values: Readonly<Record<string, string>>,
  shown: (value: string) => Content = (value) => isolatedIn(text, value),
): Html {
  const parts = text.split(/\{(\w+)\}/u)
  const content = parts.map((part, index) => {
    if (index % 2 === 0) return part
    return Object.hasOwn(values, part) ? shown(values[part] ?? '') : `{${part}}`
  })
  return html`${content}`
}

/** Like `filled`, for a heading, in which the style keeps a name in one line. */
export const filledTitle = (text: string, values: Readonly<Record<string, string>>): Html =>
  filled(text, values, (value) => html`<bdi>${value}</bdi>`)

/** Markup that a constant of the program contains. Never call it with a value that a request can contain. */
export const trusted = (text: string): Html => ({ [markup]: text })
