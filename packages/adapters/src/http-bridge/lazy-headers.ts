import type { IncomingHttpHeaders } from 'node:http'
import { delegate } from './delegate.ts'

/**
 * Request headers backed by Node's header object. `get` and `has` are plain lookups; any other member of the `Headers`
 * interface first creates a real one.
 */
export class LazyHeaders {
  readonly #given: IncomingHttpHeaders
  #real: Headers | undefined

  constructor(given: IncomingHttpHeaders) {
    this.#given = given
  }

  get(name: string): string | null {
    const lower = name.toLowerCase()
    // Skips inherited properties and the pseudo-headers of HTTP/2.
    if (!Object.hasOwn(this.#given, lower) || lower.startsWith(':')) return null
    const value = this.#given[lower]
    if (value === undefined) return null
    return typeof value === 'string' ? value : value.join(', ')
  }

  has(name: string): boolean {
    return this.get(name) !== null
  }

  /** The real `Headers`, created on first use. */
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

delegate(LazyHeaders, Headers)
