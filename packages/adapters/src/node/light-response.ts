import { delegate } from '../delegate.ts'

type Text = string | null

/** Headers as a record, the form in which the provider writes them. */
type Plain = Readonly<Record<string, string>>

interface LightInit {
  readonly status?: number
  readonly headers?: Plain
}

/**
 * A cheap `Response` of a text and a record of headers, which the server writes unchanged. Any other member of the
 * interface creates a real `Response` and forwards to it.
 */
export class LightResponse {
  readonly status: number
  readonly #body: Text
  readonly #headers: Plain
  #real: Response | undefined

  constructor(body: Text = null, { status = 200, headers = {} }: LightInit = {}) {
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

delegate(LightResponse, Response)
Object.setPrototypeOf(LightResponse, Response)
