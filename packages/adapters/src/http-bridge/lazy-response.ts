import { delegate } from './delegate.ts'

type Text = string | null

type Plain = Readonly<Record<string, string>>

interface LazyInit {
  readonly status?: number
  readonly headers?: Plain
}

/**
 * A cheap `Response` of a text and a record of headers, which the server writes unchanged. Any other member of the
 * interface creates a real `Response` and forwards to it.
 */
export class LazyResponse {
  readonly status: number
  readonly #body: Text
  readonly #headers: Plain
  #real: Response | undefined

  constructor(body: Text = null, { status = 200, headers = {} }: LazyInit = {}) {
    this.status = status
    this.#body = body
    this.#headers = headers
  }

  get real(): Response {
    this.#real ??= new Response(this.#body, { status: this.status, headers: this.#headers })
    return this.#real
  }

  /** The text and headers passed to the constructor; `undefined` if they may have been changed or read since. */
  get plain(): { readonly body: Text; readonly headers: Plain } | undefined {
    return this.#real === undefined ? { body: this.#body, headers: this.#headers } : undefined
  }
}

delegate(LazyResponse, Response)
Object.setPrototypeOf(LazyResponse, Response)
