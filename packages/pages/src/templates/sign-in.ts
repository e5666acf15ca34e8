import type { SignInView } from '@grantry/plugins/sign-in'
import { type Content, html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import { passwordField } from './fields.ts'
import { iconOf, icons } from './icons.ts'
import { alert, clientLinks, continuing, form, heading, opened } from './parts.ts'
import { formScript, passkeyScript, passwordScript, scriptOf } from './scripts.ts'
import { tooManyAttempts } from './too-many-attempts.ts'

function problemText({ problem, provider = '', retryAfter }: SignInView, tools: Tools) {
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
      return text('providerRefused', { provider })
    case 'provider_failed':
      return text('providerFailed', { provider })
    case 'provider_not_recent':
      return text('providerNotRecent', { provider })
    case 'provider_not_active':
      return text('providerNotActive', { provider })
    case 'provider_unavailable':
      return text('providerUnavailable', { provider })
    case 'unknown_organization':
      return text('unknownOrganization')
    case 'too_many_attempts':
      return tooManyAttempts(retryAfter, tools)
  }
}

/** A button that a script shows where the browser supports passkeys. */
const passkeyButton = ({ passkey }: SignInView, { text }: Tools): Content =>
  passkey !== undefined &&
  html`<input type="hidden" name="credential" value=""><button type="button" id="passkey" hidden data-challenge="${passkey.challenge}" data-rp-id="${passkey.rpId}"${passkey.unknown !== undefined && html` data-unknown="${passkey.unknown}"`}>${icons.passkey}<span>${text('passkey')}</span></button>`

/** Links to other ways to sign in: they work without scripts, and Enter in a field does not follow them. */
function waysOf({ ways, asksForPassword }: SignInView, { text, rich }: Tools): Content {
  const links = ways.flatMap(({ kind, name, url, icon }) => {
    if (kind === 'mail')
      return [html`<a class="way" id="by-mail" href="${url}">${icons.mail}<span>${text('continueByMail')}</span></a>`]
    if (kind !== 'provider') return []
    return [
      html`<a class="way" href="${url}" rel="noreferrer">${iconOf(icon, name)}<span>${rich('continueWith', { name })}</span></a>`,
    ]
  })
  return (
    links.length > 0 &&
    html`${asksForPassword && html`<p class="or"><span>${text('or')}</span></p>`}<div class="ways">${links}</div>`
  )
}

/** The link of a kind that occurs once. */
const linkOf = (view: SignInView, kind: 'recovery' | 'sign_up', id: string, text: string): Content => {
  const way = view.ways.find((candidate) => candidate.kind === kind)
  return way !== undefined && html`<a id="${id}" href="${way.url}">${text}</a>`
}

/** A link for a user without an account. */
function signUpLink(view: SignInView, { text }: Tools): Content {
  const link = linkOf(view, 'sign_up', 'create', text('createAccount'))
  return link !== false && html`<p class="aside">${link}</p>`
}

function passwordForm(view: SignInView, tools: Tools, describedBy: string | undefined): Content {
  const { username, passkey, staySignedIn } = view
  const { text } = tools
  const described: Content = describedBy !== undefined && html` aria-describedby="${describedBy}"`
  // After a wrong password, the user corrects the password.
  const isFocused = username !== undefined && username !== ''
  const password = { id: 'password', label: text('password'), autocomplete: 'current-password' } as const
  return html`<label for="username">${text('username')}</label><input id="username" name="username" value="${username ?? ''}" required maxlength="256" autocomplete="username${passkey !== undefined && ' webauthn'}" autocapitalize="none" spellcheck="false" dir="ltr"${!isFocused && html` autofocus`}${described}>
${passwordField({ ...password, isFocused, describedBy, beside: linkOf(view, 'recovery', 'forgot', text('forgotPassword')) }, tools)}
${staySignedIn !== undefined && html`<div class="check"><input id="stay" name="stay_signed_in" type="checkbox" value="yes"${staySignedIn && html` checked`}><label for="stay">${text('staySignedIn')}</label></div>`}<button class="primary" id="sign-in">${text('signIn')}</button>`
}

/** Leads to the provider of the domain of a mail address: without a password, and without a script. */
function organizationOf(view: SignInView, { text }: Tools, describedBy: string | undefined): Content {
  const { asksForOrganization = false, asksForPassword, username = '' } = view
  if (!asksForOrganization) return false
  const described: Content = describedBy !== undefined && html` aria-describedby="${describedBy}"`
  const field =
    !asksForPassword &&
    html`<label for="username">${text('emailAddress')}</label><input id="username" name="username" type="text" inputmode="email" value="${username}" maxlength="256" autocomplete="email" autocapitalize="none" spellcheck="false" dir="ltr" autofocus${described}>`
  return html`${field}<button${!asksForPassword && html` class="primary"`} id="organization" name="decision" value="organization" formnovalidate>${icons.organization}<span>${text('continueWithOrganization')}</span></button>`
}

/** The fields `username` and `password`, the checkbox `stay_signed_in`, and the button `decision` with the value `cancel`. */
export function signIn(view: SignInView, tools: Tools): Page {
  const { client, canCancel, passkey, asksForPassword } = view
  const { text } = tools
  const message = problemText(view, tools)
  const describedBy = message === undefined ? undefined : 'problem'
  const content = html`${heading(client, text('signInTitle'), continuing(client, tools))}${alert(message)}${form(
    view,
    html`${asksForPassword && passwordForm(view, tools, describedBy)}${organizationOf(view, tools, describedBy)}${passkeyButton(view, tools)}${waysOf(view, tools)}${
      canCancel &&
      html`<button class="quiet" id="cancel" name="decision" value="cancel" formnovalidate>${text('cancel')}</button>`
    }`,
  )}${opened(view, tools)}${signUpLink(view, tools)}${clientLinks(client, tools)}`
  const script = scriptOf(formScript, asksForPassword && passwordScript, passkey && passkeyScript)
  return { title: text('signInTitle'), content, client, formTargets: view.formTargets, script }
}
