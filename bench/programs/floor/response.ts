import { floorLength } from '../../operations.ts'

const filled = JSON.stringify({ access_token: '', token_type: 'Bearer', expires_in: 3600, scope: 'api1' }).length
const token = 'x'.repeat(floorLength - filled)

export const floorHeaders = { 'content-type': 'application/json', 'cache-control': 'no-store' } as const

/** Parses the form and returns 200 bytes that contain its scope. */
export const floorResponse = (form: string): string =>
  JSON.stringify({
    access_token: token,
    token_type: 'Bearer',
    expires_in: 3600,
    scope: new URLSearchParams(form).get('scope'),
  })

type MakeResponse = new (
  body: string,
  init: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
) => Response

/** Returns the baseline as a fetch handler. */
export const floorFetch =
  (MadeResponse: MakeResponse = Response, textOf = (request: Request): Promise<string> => request.text()) =>
  async (request: Request): Promise<Response> =>
    new MadeResponse(floorResponse(await textOf(request)), { status: 200, headers: floorHeaders })

/** Reads a body chunk by chunk, as a provider does to enforce its size limit. */
export async function textByPieces({ body }: Request): Promise<string> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true }
    if (done) return text + decoder.decode()
    text += decoder.decode(value, { stream: true })
  }
}
