/**
 * An event from the stream of the server.
 *
 * @typedef {object} ServerEvent
 * @property {string} id the part before the dot identifies the request
 * @property {string} type
 * @property {number} time epoch seconds
 * @property {string} [family]
 * @property {string} [clientId]
 * @property {string} [grantType]
 * @property {string} [tokenType]
 * @property {string} [reason]
 * @property {string} [fingerprint]
 *
 * All events of one type in one request.
 * @typedef {object} Step
 * @property {string} type
 * @property {number} time
 * @property {ServerEvent[]} events
 *
 * @typedef {object} Family
 * @property {string} name empty for tokens without a family
 * @property {string} clientId
 * @property {Step[]} steps
 */

/** Limits for families and their steps, so that a page stays fast if it is open for days. */
const maxFamilies = 12
const maxSteps = 40

/** @param {ServerEvent} event */
const requestOf = ({ id }) => id.slice(0, id.indexOf('.'))

/** Sorts events into families, the one with the latest event first. */
export function createFamilies() {
  /** @type {Family[]} */
  let families = []
  /** @type {Set<string>} */
  const seen = new Set()

  /** @param {ServerEvent} event */
  function add(event) {
    // After a reconnect the server repeats events that may have been missed.
    if (seen.has(event.id)) return false
    seen.add(event.id)
    if (seen.size > 2000) seen.delete([...seen][0] ?? '')
    const name = event.family ?? ''
    const family = families.find((known) => known.name === name) ?? { name, clientId: event.clientId ?? '', steps: [] }
    const last = family.steps.at(-1)
    if (last?.type === event.type && last.events[0] !== undefined && requestOf(last.events[0]) === requestOf(event))
      last.events.push(event)
    else family.steps.push({ type: event.type, time: event.time, events: [event] })
    if (family.steps.length > maxSteps) family.steps.shift()
    families = [family, ...families.filter((known) => known !== family)].slice(0, maxFamilies)
    return true
  }

  return { add, all: () => families }
}
