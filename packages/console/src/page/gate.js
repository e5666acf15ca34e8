import { beginSignIn } from './authorization.js'
import { byId, element } from './elements.js'
import { shown } from './shown-text.js'

/** @import { NotSignedIn } from './authorization.js' */
/** @import { Child } from './elements.js' */
/** @import { AdministrationSetup } from './setup.js' */

/**
 * Shows a page in front of the administration.
 *
 * @param {string} title
 * @param {readonly Child[]} text
 * @param {readonly { label: string, action: () => unknown }[]} [buttons] the first is the usual one
 */
export function showGate(title, text, buttons = []) {
  const heading = element('h1', { tabindex: '-1' }, title)
  const panel = element(
    'div',
    { class: 'panel gate' },
    heading,
    element('p', {}, ...text),
    buttons.length > 0 &&
      element(
        'div',
        { class: 'buttons' },
        ...buttons.map(({ label, action }, index) =>
          element('button', { type: 'button', class: index === 0 ? 'primary' : 'plain', onclick: action }, label),
        ),
      ),
  )
  document.title = `${title} – Grantry console`
  byId('shell').hidden = true
  byId('gate').hidden = false
  byId('gate').replaceChildren(panel)
  heading.focus()
}

/** @param {AdministrationSetup} setup */
const signInButtons = (setup) => [{ label: 'Sign in', action: () => beginSignIn(setup) }]

/** @param {AdministrationSetup} setup @param {NotSignedIn} result */
export function showNotSignedIn(setup, { outcome, error = '', pending }) {
  const drafts = pending?.drafts
  const again = () => beginSignIn(setup, { drafts, ...(pending?.sub !== undefined && { sub: pending.sub }) })
  if (outcome === 'foreign_response') {
    showGate(
      'This sign-in was not started here',
      [
        'The response of the server belongs to another tab, or was used before. Nothing has happened. Sign in again in this tab.',
      ],
      signInButtons(setup),
    )
    return
  }
  if (outcome === 'refused') {
    showGate(
      'The sign-in was refused',
      ['The server answered: ', shown(error, 100), '. Try again.'],
      signInButtons(setup),
    )
    return
  }
  if (pending?.reason === undefined) {
    showGate(
      'Sign in to administrate',
      ['You leave this page for the sign-in of this server, and return.'],
      signInButtons(setup),
    )
    return
  }
  showGate(
    'You are no longer signed in',
    [pending.reason, drafts === undefined ? '' : ' What you have typed is kept in this tab.'],
    [{ label: 'Sign in again', action: again }],
  )
}

/** @param {AdministrationSetup} setup @param {string} sub */
export function showNoAdministrator(setup, sub) {
  showGate(
    'You are not an administrator',
    [
      'You are signed in as ',
      shown(sub, 100),
      '. This user is not among the administrators in the configuration of the server.',
    ],
    [{ label: 'Sign in as another user', action: () => beginSignIn(setup, { prompt: 'select_account' }) }],
  )
}

/**
 * Another tab has signed in as another user, whom this one must not act as unnoticed.
 *
 * @param {AdministrationSetup} setup
 * @param {string} before
 * @param {string} now
 * @param {() => unknown} goOn
 */
export const showOtherUser = (setup, before, now, goOn) =>
  showGate(
    'Another user has signed in',
    [
      'You were signed in here as ',
      shown(before, 100),
      '. This browser is now signed in as ',
      shown(now, 100),
      '. What was typed in this tab is discarded.',
    ],
    [
      { label: 'Sign in as another user', action: () => beginSignIn(setup, { prompt: 'select_account' }) },
      { label: 'Go on as this user', action: goOn },
    ],
  )

/** @param {AdministrationSetup} setup */
export const showSignedOut = (setup) =>
  showGate('You are signed out', ['You have signed out in another tab.'], signInButtons(setup))

/** @param {AdministrationSetup} setup @param {string} problem */
export const showUnavailable = (setup, problem) =>
  showGate(
    'The administration is not available',
    [shown(problem, 500)],
    [{ label: 'Sign in again', action: () => beginSignIn(setup) }],
  )

/** @param {AdministrationSetup} setup */
export function showScopeMissing(setup) {
  showGate(
    'This sign-in does not suffice',
    ['The access token does not have the scope admin, so the server refuses the request. Sign in again.'],
    signInButtons(setup),
  )
}

/**
 * Explains why the administration cannot work at this address; `false` if it can.
 *
 * @param {AdministrationSetup} setup
 */
export function showWrongAddress({ administration: { redirectUri } }) {
  if (location.origin === new URL(redirectUri).origin) {
    if (isSecureContext) return false
    showGate('This page needs https', [
      'Browsers create keys only on https pages and on pages of this machine (localhost).',
    ])
    return true
  }
  showGate('The administration has another address', [
    'Users sign in at ',
    element('a', { href: redirectUri }, redirectUri),
    ', so the administration works there only.',
  ])
  return true
}
