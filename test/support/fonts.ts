import type { Page } from 'playwright-core'

// A page is shown in a font of the machine. What a test measures must hold with each: with a narrow and with a wide
// family, and on a machine that has neither, with the generic families.

export const fonts = {
  narrow: '"Liberation Sans Narrow", "Arial Narrow", "Liberation Serif", serif',
  wide: '"DejaVu Sans Mono", Verdana, monospace',
} as const

export type InEachFont<T> = Readonly<Record<keyof typeof fonts, T>>

/** Runs in the page. The policy of a page does not apply to such a sheet, and the next document has none. */
function showIn<T>(families: Readonly<Record<string, string>>, measure: (argument: unknown) => T, argument: unknown) {
  const measured = Object.entries(families).map(([font, family]) => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(`body { font-family: ${family} !important }`)
    document.adoptedStyleSheets = [sheet]
    return [font, measure(argument)] as const
  })
  document.adoptedStyleSheets = []
  return Object.fromEntries(measured)
}

/**
 * Returns what a function finds in a page with each font.
 *
 * @param measure runs in the page, and uses nothing of its module
 */
export const inEachFont = <T, A = undefined>(
  page: Page,
  measure: (argument: A) => T,
  argument?: A,
): Promise<InEachFont<T>> =>
  page.evaluate(`(${showIn})(${JSON.stringify(fonts)}, ${measure}, ${JSON.stringify(argument)})`)

type Measures<A> = Readonly<Record<string, (argument: A) => unknown>>

/**
 * Returns what functions find in each of several documents, with each font. One call of the browser shows all of them, one
 * after the other: a call for each takes several times as long.
 *
 * @param measures run in the page, and use nothing of their module
 */
export const inEachDocument = <A, M extends Measures<A>>(
  page: Page,
  documents: Readonly<Record<string, string>>,
  measures: M,
  argument: A,
): Promise<Readonly<Record<string, InEachFont<{ readonly [Name in keyof M]: ReturnType<M[Name]> }>>>> =>
  page.evaluate(`(() => {
    const documents = ${JSON.stringify(documents)}
    const measures = {${Object.entries(measures).map(([name, measure]) => `${name}: ${measure}`)}}
    const all = (argument) =>
      Object.fromEntries(Object.entries(measures).map(([name, measure]) => [name, measure(argument)]))
    const show = ${showIn}
    return Object.fromEntries(Object.entries(documents).map(([name, html]) => {
      document.open()
      document.write(html)
      document.close()
      return [name, show(${JSON.stringify(fonts)}, all, ${JSON.stringify(argument)})]
    }))
  })()`)

/** The same value with each font. */
export const always = <T>(value: T): InEachFont<T> => ({ narrow: value, wide: value })

/** How wide a page is, in pixels: the width of the window, unless it scrolls sideways. */
export const widthsOf = (page: Page): Promise<InEachFont<number>> =>
  inEachFont(page, () => document.documentElement.scrollWidth)

/** Runs in the page: returns the short words that `cutWords` describes. */
export function findCutWords(selector: string): readonly string[] {
  const linesOf = (node: Text, word: RegExpMatchArray) => {
    const range = document.createRange()
    range.setStart(node, word.index ?? 0)
    range.setEnd(node, (word.index ?? 0) + word[0].length)
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size
  }
  return [...document.querySelectorAll(selector)]
    .filter((part) => part.checkVisibility())
    .flatMap((part) => [...part.childNodes])
    .filter((node) => node instanceof Text)
    .flatMap((node) =>
      [...node.data.matchAll(/(?<!\S)[^\s\p{Pd}\p{Lo}]{1,12}(?!\S)/gu)]
        .filter((word) => linesOf(node, word) > 1)
        .map(([word]) => word),
    )
}

/**
 * Returns the short words in the elements of a selector that are cut in two lines. A line may end after a hyphen, and
 * after any character of a language without spaces.
 */
export const cutWords = (page: Page, selector: string): Promise<InEachFont<readonly string[]>> =>
  inEachFont(page, findCutWords, selector)
