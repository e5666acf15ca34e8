/**
 * Returns the URL, or `undefined` if the text is none. Instead of `URL.canParse`, which rejects URLs with letters such
 * as `ü` on Node 20 as soon as V8 has optimized its caller.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
