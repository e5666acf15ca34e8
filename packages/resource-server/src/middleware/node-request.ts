import type { PresentedRequest } from '../presented-request.ts'

/** The part of `IncomingMessage` of Node.js that is read, also of HTTP/2. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Names and values in turn. `headers` would hide a second Authorization header. */
  readonly rawHeaders: readonly string[]
}

function headersOf({ rawHeaders }: NodeRequest): Headers {
  const headers = new Headers()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // HTTP/2 has the method and the path among the headers.
    if (!name.startsWith(':')) headers.append(name, rawHeaders[index + 1] ?? '')
  }
  return headers
}

/** @param target the target of the request before routers have changed it */
export const presentedOf = (request: NodeRequest, target: string | undefined, source: object): PresentedRequest => ({
  method: request.method ?? 'GET',
  // Only the path is used: the host would come from the sender. A proof for another form of target is refused.
  url: target === undefined || target.startsWith('/') ? `http://localhost${target ?? '/'}` : target,
  headers: headersOf(request),
  source,
  identity: source,
})
