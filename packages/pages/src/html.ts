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

/** Markup that a constant of the program contains. Never call it with a value that a request can contain. */
export const trusted = (text: string): Html => ({ [markup]: text })
