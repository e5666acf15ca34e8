import type { IncomingHttpHeaders } from 'node:http'
import { delegate } from '../delegate.ts'

/**
 * The headers of a request, as Node has read them: `get` and `has` cost a look, everything else of the `Headers` interface makes a real one
 * first.
 */
export class LightHeaders {
  readonly #given: IncomingHttpHeaders
  #real: Headers | undefined

  constructor(given: IncomingHttpHeaders) {
    this.#given = given
  }

  get(name: string): string | null {
    const lower = name.toLowerCase()
    // Not what an object inherits, and no pseudo-header of HTTP/2.
    if (!Object.hasOwn(this.#given, lower) || lower.startsWith(':')) return null
    const value = this.#given[lower]
    if (value === undefined) return null
    return typeof value === 'string' ? value : value.join(', ')
  }

  has(name: string): boolean {
    return this.get(name) !== null
  }

  /** The real `Headers`, made once. */
  get real(): Headers {
    if (this.#real === undefined) {
      this.#real = new Headers()
      for (const [name, value] of Object.entries(this.#given)) {
        if (value === undefined || name.startsWith(':')) continue
        for (const each of typeof value === 'string' ? [value] : value) this.#real.append(name, each)
      }
    }
    return this.#real
  }
}

delegate(LightHeaders, Headers)
