import { delegate } from '../delegate.ts'

type Text = string | null

/** Headers as a record, as everything that makes an answer writes them. */
type Plain = Readonly<Record<string, string>>

interface LightInit {
  readonly status?: number
  readonly headers?: Plain
}

/**
 * A `Response` of text and a record of headers that costs little, because the server writes them as they are. Everything else of the
 * interface is asked of a real `Response`, made at that moment.
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

  /** Text and headers as they were given; `undefined` when somebody may have changed or read them since. */
  get plain(): { readonly body: Text; readonly headers: Plain } | undefined {
    return this.#real === undefined ? { body: this.#body, headers: this.#headers } : undefined
  }
}

delegate(LightResponse, Response)
Object.setPrototypeOf(LightResponse, Response)
