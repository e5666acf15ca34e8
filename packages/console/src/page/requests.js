import { createActionList } from './action-list.js'
import { byId } from './elements.js'
import { exchange } from './exchange.js'
import { createFamilies } from './families.js'
import { fingerprintOf } from './jwt.js'
import { createRequestForm } from './request-form.js'
import { clearResponse, showResponse } from './response-view.js'
import { sessionAfter } from './session.js'
import { drawFamilies } from './timeline.js'
import { showTokens } from './token-cards.js'

/** @import { ServerResponse, Call } from './exchange.js' */
/** @import { Identity, Session } from './session.js' */
/** @import { ServerEvent } from './families.js' */
/** @import { Setup } from './setup.js' */

/** @type {Session | undefined} */
let session
/** The family of the current tokens. @type {string | undefined} */
let ownFamily
const families = createFamilies()
/** @type {Map<string, string>} */
const familyOfToken = new Map()

/** @param {Call} call */
async function send(call) {
  const response = await exchange(call)
  showResponse(call, response)
  return response
}

/** @param {string} [token] */
async function updateOwnFamily(token) {
  ownFamily = token === undefined ? undefined : familyOfToken.get((await fingerprintOf(token)) ?? '')
  drawFamilies(families.all(), ownFamily)
}

/** @param {ServerEvent} event */
function onEvent(event) {
  if (!families.add(event)) return
  if (event.fingerprint !== undefined) familyOfToken.set(event.fingerprint, event.family ?? '')
  if (familyOfToken.size > 2000) familyOfToken.delete([...familyOfToken.keys()][0] ?? '')
  void updateOwnFamily(session?.access)
}

/**
 * Starts the page that sends requests by hand, with the events of the server.
 *
 * @param {Setup} setup
 * @param {(onEvent: (event: ServerEvent) => void) => void} follow receives the events
 */
export function startRequests(setup, follow) {
  byId('issuer').textContent = setup.issuer
  byId('demo').hidden = setup.demo === undefined
  const showActions = createActionList(setup, async (action) => {
    const call = action.call()
    const response = await send(call)
    if (action.yields === 'tokens' && session !== undefined) await adoptTokens(session.client, call, response)
    if (action.yields === 'introspection' && session !== undefined && response.status === 200) {
      session = { ...session, introspected: response.json }
      await showTokens(session)
    }
  })

  /** @param {Identity} client @param {Call} call @param {ServerResponse} response */
  async function adoptTokens(client, call, response) {
    const next = sessionAfter(session, client, call, response)
    if (next === undefined || next === session) return
    session = next
    showActions(session)
    await showTokens(session)
    await updateOwnFamily(session.access)
  }

  createRequestForm({
    setup,
    session: () => session,
    sendForTokens: async (client, call) => adoptTokens(client, call, await send(call)),
    onClientChanged: clearResponse,
  })
  showActions(session)
  drawFamilies([], undefined)
  follow(onEvent)
}
