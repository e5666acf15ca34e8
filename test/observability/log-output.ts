import type { ServerEvent } from '../../packages/server/src/observability/server-event.ts'

/** A client authentication failure, with other members. */
export const event = (more: object = {}) =>
  ({
    type: 'client_authentication_failed',
    reason: 'client_unknown',
    id: 'a.1',
    requestId: 'a',
    time: 0,
    ...more,
  }) as ServerEvent

export const trace = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  clientAddress: '198.51.100.7',
  endpoint: 'token',
}
/** An event of a request to the token endpoint. */
export const inRequest = (requestId: string, more: object) =>
  event({ reason: undefined, id: `${requestId}.1`, requestId, ...trace, ...more })

export const authenticated = (requestId: string) =>
  inRequest(requestId, { type: 'client_authentication_succeeded', method: 'client_secret_basic', clientId: 'web' })
export const issued = (requestId: string) =>
  inRequest(requestId, {
    type: 'token_issued',
    tokenType: 'access_token',
    grantType: 'client_credentials',
    scopes: ['api1'],
    fingerprint: '373cb08e',
    clientId: 'web',
  })
export const succeeded = (requestId: string, more: object = {}) =>
  inRequest(requestId, {
    type: 'endpoint_succeeded',
    httpMethod: 'POST',
    status: 200,
    duration: 1.5,
    clientId: 'web',
    ...more,
  })
export const refused = (requestId: string) =>
  inRequest(requestId, { type: 'client_authentication_failed', reason: 'x' })

export const parsed = (lines: readonly string[]) => lines.map((line) => JSON.parse(line))
export const names = (lines: readonly string[]) => parsed(lines).map((line) => line['event.name'])
/** The names of the events inside a line. */
export const nested = (line: { readonly 'grantry.events'?: readonly { readonly 'event.name': string }[] }) =>
  (line['grantry.events'] ?? []).map((each) => each['event.name'])

/** An output with a slow reader, a closed reader or a terminal. */
export function output({ isTTY = false } = {}) {
  const lines: string[] = []
  const pending: (() => void)[] = []
  let onError: ((error: Error) => void) | undefined
  const state = { stalled: false, failure: undefined as string | undefined, writableLength: 0 }
  return {
    lines,
    state,
    isTTY,
    get writableLength() {
      return state.writableLength
    },
    on(_: 'error', listener: (error: Error) => void) {
      onError = listener
    },
    off() {
      onError = undefined
    },
    isListening: () => onError !== undefined,
    release() {
      state.stalled = false
      state.writableLength = 0
      for (const done of pending.splice(0)) done()
    },
    write(text: string, done: (error?: Error) => void = () => {}) {
      if (state.failure !== undefined) {
        const error = Object.assign(new Error(state.failure), { code: state.failure })
        done(error)
        onError?.(error)
        return
      }
      lines.push(...text.split('\n').slice(0, -1))
      if (!state.stalled) return done()
      state.writableLength += text.length
      pending.push(done)
    },
  }
}
