import { createApi } from './api.js'
import { auditPage } from './audit.js'
import { beginSignIn, completeSignIn, revokeToken, signOut } from './authorization.js'
import { clientsPage } from './clients.js'
import { byId, element } from './elements.js'
import {
  showGate,
  showNoAdministrator,
  showNotSignedIn,
  showOtherUser,
  showScopeMissing,
  showSignedOut,
  showUnavailable,
  showWrongAddress,
} from './gate.js'
import { removeKeyPair } from './key-store.js'
import { keysPage } from './keys.js'
import { requestsPage } from './requests-page.js'
import { scopesPage } from './scopes.js'
import { startShell } from './shell.js'
import { shown } from './shown-text.js'
import { tenantsPage } from './tenants.js'
import { usersPage } from './users.js'

/** @import { SignedIn } from './authorization.js' */
/** @import { Section } from './shell.js' */
/** @import { AdministrationSetup } from './setup.js' */

const ended = 'Your sign-in was ended or revoked elsewhere, or has expired.'

/**
 * The pages. `needs` is a feature that the server must have for a page. @type {readonly (Section & { needs?: string
 * })[]}
 */
const sections = [
  { segment: 'clients', label: 'Clients', page: clientsPage },
  { segment: 'scopes', label: 'Scopes', page: scopesPage, needs: 'scopes' },
  { segment: 'users', label: 'Users', page: usersPage, needs: 'users' },
  { segment: 'keys', label: 'Keys', page: keysPage, needs: 'keys' },
  { segment: 'tenants', label: 'Tenants', page: tenantsPage, needs: 'tenants' },
  { segment: 'audit', label: 'Audit trail', page: auditPage, needs: 'audit' },
  { segment: 'requests', label: 'Requests', page: requestsPage },
]

/** Tells the other tabs that the user has signed out. */
const channel = new BroadcastChannel('grantry-console')

/** @param {AdministrationSetup} setup @param {SignedIn} signedIn @param {unknown} name @param {() => void} beforeLeaving */
function drawUser(setup, signedIn, name, beforeLeaving) {
  byId('server').textContent = setup.issuer
  const leave = async () => {
    beforeLeaving()
    channel.postMessage('signed-out')
    try {
      await removeKeyPair()
    } finally {
      await signOut(setup, signedIn)
    }
  }
  byId('user').replaceChildren(
    element('span', { class: 'quiet' }, 'Signed in as ', shown(name ?? signedIn.sub, 60)),
    element('button', { type: 'button', class: 'small', onclick: leave }, 'Sign out'),
  )
}

/**
 * Watches over the access of the user.
 *
 * @param {AdministrationSetup} setup
 * @param {SignedIn} signedIn
 */
function watchAccess(setup, signedIn) {
  /** @type {'opening' | 'open' | 'over'} */
  let state = 'opening'
  /** @type {ReturnType<typeof startShell> | undefined} */
  let shell

  /** Leaves the pages, and returns what the user has typed there. */
  function close() {
    state = 'over'
    const drafts = shell?.drafts()
    shell?.abandon()
    return drafts
  }

  /** @param {'ended' | 'no_administrator' | 'scope_missing'} refusal */
  function onRefused(refusal) {
    if (state === 'over') return
    const wasOpen = state === 'open'
    const drafts = close()
    if (refusal === 'scope_missing') showScopeMissing(setup)
    else if (refusal === 'no_administrator') showNoAdministrator(setup, signedIn.sub)
    // A token that never worked would not work after the next sign-in either.
    else if (!wasOpen) showUnavailable(setup, 'The server does not accept the access token that it has just issued.')
    else {
      showGate('You are no longer signed in', [ended, ' Signing in again…'])
      void beginSignIn(setup, { prompt: 'none', sub: signedIn.sub, reason: ended, drafts })
    }
  }

  channel.onmessage = () => {
    if (state !== 'open') return
    close()
    void revokeToken(setup, signedIn)
    showSignedOut(setup)
  }
  addEventListener('hashchange', () => {
    // Between two pages, and not while the user types.
    if (state !== 'open' || Date.now() < signedIn.expiresAt - 60_000) return
    void beginSignIn(setup, { prompt: 'none', sub: signedIn.sub, drafts: close() })
  })
  return {
    onRefused,
    close,
    /** @param {ReturnType<typeof startShell>} opened */
    open(opened) {
      state = 'open'
      shell = opened
    },
  }
}

/**
 * @param {AdministrationSetup} setup
 * @param {SignedIn} signedIn
 */
async function open(setup, signedIn) {
  const access = watchAccess(setup, signedIn)
  const api = createApi(setup, signedIn, access.onRefused)
  const { status, problem, body } = await api.get('')
  if (status === 401 || status === 403) return
  if (problem !== '') return showUnavailable(setup, problem)
  // Every page has something that only a token with this scope can do.
  if (body?.caller?.canChange !== true) return access.onRefused('scope_missing')
  const { drafts = {}, reason } = signedIn.pending
  byId('gate').hidden = true
  byId('shell').hidden = false
  drawUser(setup, signedIn, body.caller.username, access.close)
  const offered = sections.filter(({ needs }) => needs === undefined || body?.resources?.includes(needs))
  access.open(startShell(offered, { api, setup, usersIn: body.usersIn }, drafts))
  if (reason === undefined) return
  const notice = byId('again')
  notice.textContent = `${reason} You have been signed in again.`
  notice.hidden = false
}

/**
 * Signs the administrator in, and opens the administration.
 *
 * @param {AdministrationSetup} setup
 */
export async function startAdministration(setup) {
  document.body.className = 'administration'
  if (showWrongAddress(setup)) return
  showGate('Signing in', ['One moment…'])
  const result = await completeSignIn(setup)
  if ('accessToken' in result) {
    const { state, verifier, hash, silent, sub: before } = result.pending
    if (before === undefined || before === result.sub) return open(setup, result)
    // The second user must not save what the first one has typed.
    const pending = { state, verifier, hash, silent }
    return showOtherUser(setup, before, result.sub, () => open(setup, { ...result, pending }))
  }
  if (result.outcome === 'none') await beginSignIn(setup, { prompt: 'none' })
  else showNotSignedIn(setup, result)
}
