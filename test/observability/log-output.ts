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
