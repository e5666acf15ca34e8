import type { OverviewView } from '@grantry/plugins/account'
import { type Content, html } from '../html.ts'
import { nameOf, userLine } from '../templates/parts.ts'
import type { Page } from '../tools.ts'
import { addressOf } from './address.ts'
import { deviceText, entryLink, notice, sessionLines } from './parts.ts'
import { profileOf } from './profile.ts'
import { linkedOf } from './providers.ts'
import { signalScript } from './registration-script.ts'
import type { AccountTools } from './tools.ts'

function sessionsOf({ sessions, endOthers }: OverviewView, tools: AccountTools): Content {
  const { accountText } = tools
  const items = sessions.map(
    (session) =>
      html`<li class="entry"><div>${sessionLines(session, tools)}</div>${session.end !== undefined && entryLink(session.end, accountText('endSession'), deviceText(session, tools))}</li>`,
  )
  return html`<section aria-labelledby="sessions"><h2 id="sessions">${accountText('sessionsTitle')}</h2><ul>${items}</ul>${endOthers !== undefined && html`<p class="links"><a id="end-others" href="${endOthers}">${accountText('endOthers')}</a></p>`}</section>`
}

function applicationsOf({ applications }: OverviewView, tools: AccountTools): Content {
  const { accountText, scope } = tools
  const items = applications.map(
    (application) =>
      html`<li class="entry"><div><strong><bdi>${nameOf(application)}</bdi></strong>${application.scopes.map((name) => html`<small>${scope(name)}</small>`)}</div>${entryLink(application.withdraw, accountText('withdraw'), nameOf(application))}</li>`,
  )
  const list =
    items.length === 0 ? html`<p class="muted">${accountText('applicationsNone')}</p>` : html`<ul>${items}</ul>`
  return html`<section aria-labelledby="applications"><h2 id="applications">${accountText('applicationsTitle')}</h2>${list}</section>`
}

function passkeysOf({ passkeys }: OverviewView, tools: AccountTools): Content {
  if (passkeys === undefined) return false
  const { accountText, ago } = tools
  const { signals } = passkeys
  const items = passkeys.list.map(({ name, added, unused, rename, remove }) => {
    const used = unused !== undefined && html`<small>${accountText('lastUsed', { time: ago(unused) })}</small>`
    const links = html`<span class="changes">${entryLink(rename, accountText('rename'), name)} ${entryLink(remove, accountText('remove'), name)}</span>`
    return html`<li class="entry"><div><strong><bdi>${name}</bdi></strong><small>${accountText('added', { time: ago(added) })}</small>${used}</div>${links}</li>`
  })
  const list = items.length === 0 ? html`<p class="muted">${accountText('passkeysNone')}</p>` : html`<ul>${items}</ul>`
  return html`<section aria-labelledby="passkeys"><h2 id="passkeys"${signals !== undefined && html` data-signals="${JSON.stringify(signals)}"`}>${accountText('passkeysTitle')}</h2>${list}<p class="links"><a id="add-passkey" href="${passkeys.add}">${accountText('addPasskey')}</a></p></section>`
}

function passwordOf({ changePassword }: OverviewView, { accountText }: AccountTools): Content {
  if (changePassword === undefined) return false
  return html`<section aria-labelledby="own-password"><h2 id="own-password">${accountText('passwordTitle')}</h2><p class="links"><a id="change-password" href="${changePassword}">${accountText('passwordChange')}</a></p></section>`
}

function codesText({ codes, codesLeft }: NonNullable<OverviewView['factors']>, { accountText }: AccountTools): string {
  if (!codes) return accountText('recoveryNone')
  return codesLeft === undefined
    ? accountText('recoverySome')
    : accountText('recoveryLeft', { count: String(codesLeft) })
}

function factorsOf({ factors }: OverviewView, tools: AccountTools): Content {
  if (factors === undefined) return false
  const { accountText } = tools
  const name = accountText('otpName')
  const link = factors.app
    ? entryLink(factors.remove, accountText('remove'), name)
    : entryLink(factors.setUp, accountText('otpSetUp'), name)
  const state = factors.app ? accountText('otpAdded') : accountText('otpNone')
  const app = html`<li class="entry"><div><strong>${name}</strong><small>${state}</small></div>${link}</li>`
  const codes = html`<li class="entry"><div><strong>${accountText('recoveryName')}</strong><small>${codesText(factors, tools)}</small></div><a class="change" id="new-codes" href="${factors.newCodes}">${accountText('recoveryCreate')}</a></li>`
  return html`<section aria-labelledby="factors"><h2 id="factors">${accountText('factorsTitle')}</h2><ul>${app}${factors.app && codes}</ul></section>`
}

function dataOf({ downloadData, deleteAccount }: OverviewView, { accountText }: AccountTools): Content {
  if (downloadData === undefined && deleteAccount === undefined) return false
  const download =
    downloadData !== undefined && html`<a id="download-data" href="${downloadData}">${accountText('dataDownload')}</a>`
  const remove =
    deleteAccount !== undefined &&
    html`<a id="delete-account" href="${deleteAccount}">${accountText('deleteButton')}</a>`
  return html`<section aria-labelledby="data"><h2 id="data">${accountText('dataTitle')}</h2><p class="links">${download} ${remove}</p></section>`
}

/** The page of the account. */
export function overview(view: OverviewView, tools: AccountTools): Page {
  const title = tools.accountText('accountTitle')
  const content = html`<h1>${title}</h1>${userLine(view.subjectName, tools)}${notice(view.notice, tools)}${profileOf(view, tools)}${addressOf(view, tools)}${passwordOf(view, tools)}${passkeysOf(view, tools)}${factorsOf(view, tools)}${linkedOf(view, tools)}${sessionsOf(view, tools)}${applicationsOf(view, tools)}${dataOf(view, tools)}`
  return { title, content, script: view.passkeys?.signals && signalScript }
}
