import { type Content, html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import type { SignInProblem, SignInView } from '../views.ts'
import { alert, clientLine, clientLinks, form, nameOf } from './parts.ts'
import { passkeyScript } from './passkey-script.ts'
import { tooManyAttempts } from './too-many-attempts.ts'

function problemText(problem: SignInProblem | undefined, seconds: number | undefined, tools: Tools) {
  const { text } = tools
  switch (problem) {
    case undefined:
      return undefined
    case 'wrong_credentials':
      return text('wrongCredentials')
    case 'form_expired':
      return text('formExpired')
    case 'unavailable':
      return text('unavailable')
    case 'unknown_passkey':
      return text('unknownPasskey')
    case 'provider_refused':
      return text('providerRefused')
    case 'provider_failed':
      return text('providerFailed')
    case 'too_many_attempts':
      return tooManyAttempts(seconds, tools)
  }
}

/** Links to other ways to sign in, above the form: they work without scripts, and Enter in a field does not follow them. */
const waysOf = ({ ways = [], asksForPassword = true }: SignInView, { text }: Tools): Content =>
  ways.length > 0 &&
  html`<div class="ways">${ways.map(({ name, url }) => html`<a class="way" href="${url}" rel="noreferrer">${text('continueWith', { name })}</a>`)}</div>${asksForPassword && html`<p class="or"><span>${text('or')}</span></p>`}`

/** The fields `username` and `password`, the checkbox `stay_signed_in`, and the button `decision` with the value `cancel`. */
export function signIn(view: SignInView, tools: Tools): Page {
  const { client, username, problem, retryAfter, canCancel, passkey, staySignedIn, asksForPassword = true } = view
  const { text } = tools
  const message = problemText(problem, retryAfter, tools)
  const described: Content = message !== undefined && html` aria-describedby="problem"`
  // After a wrong password, the user corrects the password.
  const focusesPassword = username !== undefined && username !== ''
  const fields =
    asksForPassword &&
    html`<label for="username">${text('username')}</label><input id="username" name="username" value="${username ?? ''}" required maxlength="256" autocomplete="username" autocapitalize="none" spellcheck="false" dir="ltr"${!focusesPassword && html` autofocus`}${described}>
<label for="password">${text('password')}</label><input id="password" name="password" type="password" required maxlength="1024" autocomplete="current-password" dir="ltr"${focusesPassword && html` autofocus`}${described}>
${staySignedIn !== undefined && html`<div class="check"><input id="stay" name="stay_signed_in" type="checkbox" value="yes"${staySignedIn && html` checked`}><label for="stay">${text('staySignedIn')}</label></div>`}<button class="primary" id="sign-in">${text('signIn')}</button>`
  const content = html`<h1>${text('signInTitle')}</h1>${clientLine(client, text('signInIntro', { client: nameOf(client) }))}${alert(message)}${waysOf(view, tools)}${form(
    view,
    html`${fields}${passkey !== undefined && html`<input type="hidden" name="credential" value=""><button type="button" id="passkey" hidden data-challenge="${passkey.challenge}" data-rp-id="${passkey.rpId}">${text('passkey')}</button>`}${
      canCancel && html`<button id="cancel" name="decision" value="cancel" formnovalidate>${text('cancel')}</button>`
    }`,
  )}${clientLinks(client, tools)}`
  const script = passkey === undefined ? undefined : passkeyScript
  return { title: text('signInTitle'), content, client, formTargets: view.formTargets, script }
}
