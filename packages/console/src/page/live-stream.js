import { showStatus } from './live.js'

/** @import { Api } from './api.js' */
/** @import { ServerEvent } from './families.js' */

/** Milliseconds before the next attempt. */
const pause = 2000
/** A stream that was open for so many milliseconds has ended as planned: the page proves its access again. */
const planned = 5000

/**
 * Returns the messages in a stream of Server-Sent Events, and what is left of it.
 *
 * @param {string} text
 */
export function messagesIn(text) {
  const blocks = text.split('\n\n')
  const rest = blocks.pop() ?? ''
  const messages = blocks.map((block) => {
    const lines = block.split('\n')
    const value = (/** @type {string} */ name) =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
    return { id: value('id'), data: value('data') }
  })
  return { messages, rest }
}

/**
 * Receives the events of the server. An `EventSource` could not present the token.
 *
 * @param {Api} api
 * @param {(event: ServerEvent) => void} onEvent
 */
export function followEvents(api, onEvent) {
  let lastId = ''

  /** @param {ReadableStream<Uint8Array>} body */
  async function readAll(body) {
    const reader = body.getReader()
    const decoder = new TextDecoder()
    let rest = ''
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const parsed = messagesIn(rest + decoder.decode(chunk.value, { stream: true }))
      rest = parsed.rest
      for (const { id, data } of parsed.messages) {
        if (id !== undefined) lastId = id
        if (data !== undefined) onEvent(JSON.parse(data))
      }
    }
  }

  async function connect() {
    const response = await api.console('/console/events', lastId === '' ? {} : { 'last-event-id': lastId })
    // The page says it if the user is no longer signed in.
    if (response.status === 401 || response.status === 403) return 'over'
    if (response.status === 200 && response.body !== null) {
      showStatus('good', 'connected')
      const opened = performance.now()
      await readAll(response.body)
      if (performance.now() - opened > planned) return 'again'
    }
    return 'later'
  }

  async function follow() {
    const next = await connect().catch(() => 'later')
    if (next === 'over') return showStatus('bad', 'not signed in')
    if (next === 'again') return void follow()
    showStatus('bad', 'lost: reconnecting')
    setTimeout(follow, pause)
  }
  void follow()
}
