import { byId } from './elements.js'

/** @import { ServerEvent } from './families.js' */

/** @param {string} tone @param {string} text */
export function showStatus(tone, text) {
  const live = byId('live')
  live.className = tone
  live.textContent = text
}

/**
 * Receives events while the page is open. The browser reconnects by itself.
 *
 * @param {(event: ServerEvent) => void} onEvent
 */
export function listen(onEvent) {
  const source = new EventSource('/console/events')
  source.onopen = () => showStatus('good', 'connected')
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED)
      showStatus('bad', 'refused: too many pages are open. Close one and reload')
    else showStatus('bad', 'lost: reconnecting')
  }
  source.onmessage = ({ data }) => onEvent(JSON.parse(data))
}
