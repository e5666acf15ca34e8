import { createActionList } from './action-list.js'
import { showAnswer } from './answer.js'
import { byId } from './elements.js'
import { exchange } from './exchange.js'
import { createFamilies } from './families.js'
import { fingerprintOf } from './jwt.js'
import { listen } from './live.js'
import { createRequestForm } from './request-form.js'
import { sessionAfter } from './session.js'
import { loadSetup } from './setup.js'
import { drawFamilies } from './timeline.js'
import { showTokens } from './token-cards.js'

/** @import { Answer, Call } from './exchange.js' */
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
  const answer = await exchange(call)
  showAnswer(call, answer)
  return answer
}

/** @param {string} [token] */
async function noteOwnFamily(token) {
  ownFamily = token === undefined ? undefined : familyOfToken.get((await fingerprintOf(token)) ?? '')
  drawFamilies(families.all(), ownFamily)
}

/** @param {ServerEvent} event */
function onEvent(event) {
  if (!families.add(event)) return
  if (event.fingerprint !== undefined) familyOfToken.set(event.fingerprint, event.family ?? '')
  if (familyOfToken.size > 2000) familyOfToken.delete([...familyOfToken.keys()][0] ?? '')
  void noteOwnFamily(session?.access)
}

/** @param {Setup} setup */
function start(setup) {
  byId('issuer').textContent = setup.issuer
  byId('demo').hidden = setup.demo === undefined
  const showActions = createActionList(setup, async (action) => {
    const call = action.call()
    const answer = await send(call)
    if (action.yields === 'tokens' && session !== undefined) await take(session.client, call, answer)
    if (action.yields === 'introspection' && session !== undefined && answer.status === 200) {
      session = { ...session, introspected: answer.json }
      await showTokens(session)
    }
  })

  /** @param {Identity} client @param {Call} call @param {Answer} answer */
  async function take(client, call, answer) {
    const next = sessionAfter(session, client, call, answer)
    if (next === undefined || next === session) return
    session = next
    showActions(session)
    await showTokens(session)
    await noteOwnFamily(session.access)
  }

  createRequestForm({
    setup,
    session: () => session,
    send,
    sendForTokens: async (client, call) => take(client, call, await send(call)),
  })
  showActions(session)
  drawFamilies([], undefined)
  listen(onEvent)
}

try {
  start(await loadSetup())
} catch (error) {
  const notice = byId('notice')
  notice.hidden = false
  notice.textContent = `The console could not start: ${error instanceof Error ? error.message : String(error)}`
}
