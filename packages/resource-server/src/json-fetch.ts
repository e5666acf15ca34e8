import { parseExactJson } from './exact-json.ts'

/** Sends a request. Must not follow redirects, as `redirect: 'manual'` demands. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/**
 * Returns the JSON object in a response with the status 200.
 *
 * @throws Error with one sentence if there is none: for the logs, as the `cause` of a refusal.
 */
export type JsonFetch = (url: string, init?: RequestInit) => Promise<Readonly<Record<string, unknown>>>

/** Bytes. Room for the keys of an issuer. */
const maxSize = 262_144

/** Reads a body of limited size. */
async function read({ body }: Response): Promise<string> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > maxSize) {
      await reader.cancel()
      throw new Error(`its body has more than ${maxSize} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
  return text + decoder.decode()
}

/** Rejects after a time, whether or not the work ends. */
export async function withTimeout<T>(work: Promise<T>, seconds: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took more than ${seconds} seconds`)), seconds * 1000)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** @param timeout seconds for the whole response */
export function createJsonFetch(send: Fetch, timeout: number): JsonFetch {
  async function load(url: string, init: RequestInit, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const headers = new Headers(init.headers)
    headers.set('accept', 'application/json')
    const response = await send(url, { ...init, headers, redirect: 'manual', signal })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new Error(`it responded with the status ${response.status}`)
    }
    const value = parseExactJson(await read(response))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
    throw new Error('its body is not a JSON object')
  }

  return async (url, init = {}) => {
    const controller = new AbortController()
    try {
      return await withTimeout(load(url, init, controller.signal), timeout)
    } catch (error) {
      controller.abort()
      throw new Error(`${url} cannot be used: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
    }
  }
}
