import type { AccountFormPage, AccountNotice, SessionView } from '@grantry/plugins/account'
import { type Content, type Html, html } from '../html.ts'
import type { Texts } from '../texts.ts'
import type { AccountTools } from './tools.ts'

export const notices: Readonly<Record<Exclude<AccountNotice, 'form_expired'>, keyof Texts['account']>> = {
  session_ended: 'sessionEnded',
  sessions_ended: 'sessionsEnded',
  access_withdrawn: 'accessWithdrawn',
  passkey_added: 'passkeyAdded',
  passkey_renamed: 'passkeyRenamed',
  passkey_removed: 'passkeyRemoved',
  app_added: 'otpAdded',
  app_removed: 'otpRemoved',
  recovery_codes_created: 'recoveryCreated',
  password_changed: 'passwordChanged',
  profile_changed: 'profileChanged',
  address_changed: 'emailChanged',
  address_taken: 'emailTaken',
  data_downloaded: 'dataDownloaded',
  account_deleted: 'deleted',
  deletion_refused: 'deletionRefused',
  provider_linked: 'providerLinked',
  provider_unlinked: 'providerUnlinked',
  link_taken: 'linkTaken',
  link_full: 'linkFull',
  link_failed: 'linkFailed',
  last_way: 'lastWay',
  last_factor: 'lastFactor',
  gone: 'gone',
}

/** The notice of a change that has just happened. A mistake is an alert. */
export function notice(of: AccountNotice | undefined, { text, accountText }: AccountTools): Content {
  if (of === undefined) return false
  if (of === 'form_expired') return html`<p role="alert" id="problem">${text('formExpired')}</p>`
  return html`<p role="status" class="notice" id="notice">${accountText(notices[of])}</p>`
}

export function deviceText({ device: { browser, system } }: SessionView, { accountText }: AccountTools): string {
  if (browser !== undefined && system !== undefined) return accountText('deviceName', { browser, system })
  return browser ?? system ?? accountText('unknownDevice')
}

/** A session in words. An address is read from left to right in all languages. */
export const sessionLines = (session: SessionView, tools: AccountTools): Html =>
  html`<strong>${deviceText(session, tools)}</strong>${session.isCurrent && html`<small>${tools.accountText('thisDevice')}</small>`}${session.address !== undefined && html`<small><bdi dir="ltr">${session.address}</bdi></small>`}<small>${tools.accountText('lastUsed', { time: tools.ago(session.unused) })}</small>`

/** A form with one button, and a link that leads back without a change. */
export const changeForm = (
  { form, back }: Pick<AccountFormPage, 'form' | 'back'>,
  label: string,
  { text }: AccountTools,
  fields: Content = false,
  tone: 'primary' | 'primary danger' = 'primary',
): Html =>
  html`<form method="post" action="${form.action}">${Object.entries(form.fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}${fields}<button class="${tone}" id="confirm">${label}</button></form><p class="links"><a id="cancel" href="${back}">${text('cancel')}</a></p>`

/** A link of an entry. Its description names the entry, because all links have the same text. */
export const entryLink = (url: string, label: string, name: string): Content =>
  html`<a class="change" href="${url}" aria-label="${label}: ${name}">${label}</a>`
