import { type Client, escapeHtml, type Kit, type Reply, type Subject } from '@grantry/core'
import { describedClient } from '../shared/described-client.ts'

/** Why the page asks for a code again. */
export type DevicePageProblem = 'code_unknown' | 'too_many_guesses' | 'form_expired'

/**
 * What the page shows. Its forms use POST and have no `action`: `enter_code` has the field `user_code`; `confirm` has
 * the field `form_token` and two buttons with the name `decision` and the values `approve` and `deny`. A form in which
 * users choose scopes has the field `chosen` with the value `yes`, and for each of `choosable` a checkbox with the name
 * `scope:` and the scope, and the value `yes`.
 */
export type DevicePageState =
  | {
      readonly step: 'signed_out'
      /** The user is signed in, but not in a way that is enough for the client of this code. */
      readonly insufficientFor?: string | undefined
    }
  | { readonly step: 'enter_code'; readonly problem?: DevicePageProblem | undefined }
  | {
      readonly step: 'confirm'
      /** The code as the device shows it. Ask the user to compare it (RFC 8628 section 3.3.1). */
      readonly userCode: string
      readonly client: Client
      /** The requested scopes. */
      readonly scopes: readonly string[]
      /** The scopes that the user can leave out. */
      readonly choosable: readonly string[]
      /** The scopes that the user has left out, if the page asks again. */
      readonly leftOut: readonly string[]
      /** Why the page asks again: the user has chosen no scope. */
      readonly problem?: 'nothing_chosen' | undefined
      /** The APIs that the access is for, with those of the scopes that can be used there. */
      readonly resources: readonly { readonly audience: string; readonly scopes: readonly string[] }[]
      /** The user who is signed in. */
      readonly subject: Subject
      /** How the user is shown to the user, if `signIn` has returned a name. */
      readonly name?: string | undefined
      /** Permits this browser and user to decide about this code. */
      readonly formToken: string
    }
  | { readonly step: 'approved' | 'denied' }

/** What `render` returns. The plugin adds the status, and a cookie to the page that asks for a decision. */
export type DevicePageReply = Pick<Reply, 'html' | 'sources' | 'location' | 'cookies'>

const problems: Readonly<Record<DevicePageProblem, string>> = {
  code_unknown: 'This code is not valid. It may have expired. Check the code on your device.',
  too_many_guesses: 'There were too many wrong codes. Try again later.',
  form_expired: 'This page has expired. Enter the code again.',
}

/** The look of `@grantry/pages`, in few rules: a plugin does not import the pages. */
const style =
  ':root{color-scheme:light dark;--page:#f4f5f8;--card:#fff;--text:#15171c;--muted:#565c6b;--line:#e2e5eb;--edge:#8a90a0;--accent:#1f4fd8;--link:#1f4fd8;--alert:#a3191f}' +
  '@media (prefers-color-scheme:dark){:root{--page:#0f1115;--card:#1a1d23;--text:#eef0f4;--muted:#a6adbb;--line:#333844;--edge:#7b8394;--accent:#3e69dd;--link:#9dbcff;--alert:#ffb3ae}}' +
  '*{box-sizing:border-box}' +
  'body{display:grid;align-items:center;min-height:100vh;margin:0;padding:1rem;background:var(--page);color:var(--text);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}' +
  'main{width:100%;max-width:27rem;margin:auto;padding:clamp(1.25rem,7vw,2.5rem);background:var(--card);border:1px solid var(--line);border-radius:1rem}' +
  'h1{margin:0;font-size:1.5rem;line-height:1.25}p{margin:.5rem 0 0}a{color:var(--link)}#user{color:var(--muted)}' +
  'ul{margin:1rem 0 0;padding:0;list-style:none;border-block-start:1px solid var(--line)}li{padding:.75rem 0;border-block-end:1px solid var(--line)}' +
  'li label{display:flex;gap:.625rem;margin:0;font-weight:400}li input{flex:none;width:1.5rem;min-height:1.5rem;margin:0;accent-color:var(--accent)}' +
  'label{display:block;margin:1rem 0 .375rem;font-weight:500}' +
  'input,button{display:block;width:100%;min-height:2.875rem;padding:.5rem .75rem;font:inherit;color:inherit;background:var(--card);border:1px solid var(--edge);border-radius:.625rem}' +
  'button{margin-block-start:.75rem;font-weight:600;cursor:pointer}.primary{margin-block-start:1.5rem;color:#fff;background:var(--accent);border-color:var(--accent)}' +
  'strong{display:block;margin-block:.5rem;font-size:1.75rem;letter-spacing:.12em;text-align:center}' +
  '[role=alert]{margin-block-start:1rem;padding:.75rem 1rem;color:var(--alert);border:1px solid;border-radius:.625rem}' +
  ':focus-visible{outline:3px solid var(--link);outline-offset:2px}'

/** A scope; with a checkbox if the user can leave it out. */
function scopeItem(
  scope: string,
  index: number,
  { choosable, leftOut }: Extract<DevicePageState, { readonly step: 'confirm' }>,
): string {
  const name = escapeHtml(scope)
  if (!choosable.includes(scope)) return `<li>${name}</li>`
  const ticked = leftOut.includes(scope) ? '' : ' checked'
  return `<li><label for="scope-${index}"><input id="scope-${index}" name="scope:${name}" type="checkbox" value="yes"${ticked}>${name}</label></li>`
}

function contentOf(state: DevicePageState): string {
  switch (state.step) {
    case 'signed_out':
      return `<p>${state.insufficientFor === undefined ? 'You are not signed in.' : 'Sign in again for this application: in another way, or with a code as well.'}</p><p><a href="">Continue</a></p>`
    case 'enter_code': {
      const { problem } = state
      const [alert, described] =
        problem === undefined
          ? ['', '']
          : [`<p id="problem" role="alert">${problems[problem]}</p>`, ' aria-describedby="problem"']
      return `${alert}<form method="post"><label for="user_code">The code that your device shows</label>
<input id="user_code" name="user_code" required autocomplete="off" autocapitalize="characters" spellcheck="false"${described}>
<button class="primary">Continue</button></form>`
    }
    case 'confirm': {
      const { userCode, client, scopes, choosable, problem, resources, formToken, name } = state
      const described = describedClient(client)
      const unchecked =
        described === undefined
          ? ''
          : `<p id="origin">This service has not checked the application.${described.host === undefined ? '' : ` It is published at <strong>${escapeHtml(described.host)}</strong>.`}</p>`
      const user = name === undefined ? '' : `<p id="user">Signed in as ${escapeHtml(name)}</p>`
      const items = scopes.map((scope, index) => scopeItem(scope, index, state)).join('')
      const apis = resources.map(({ audience }) => escapeHtml(audience)).join(', ')
      const alert = problem && '<p id="problem" role="alert">Choose something that you allow, or deny the request.</p>'
      return `${user}<p>Does your device show this code?</p><p><strong>${escapeHtml(userCode)}</strong></p>
<p>Approve only if it does, and if you have started this yourself. The device gets access to your account.</p>${unchecked}${alert ?? ''}
<form method="post"><p>The application ${escapeHtml(client.clientName ?? client.clientId)} requests:</p><ul>${items}</ul>${apis === '' ? '' : `<p>The access is for ${apis}.</p>`}
<input type="hidden" name="form_token" value="${escapeHtml(formToken)}">${choosable.length > 0 ? '<input type="hidden" name="chosen" value="yes">' : ''}
<button class="primary" name="decision" value="approve">Approve</button><button name="decision" value="deny">Deny</button></form>`
    }
    case 'approved':
      return '<p role="status">You have approved the request. You can return to your device.</p><p><a href="">Enter another code</a></p>'
    case 'denied':
      return '<p role="status">You have denied the request. The device gets no access.</p><p><a href="">Enter another code</a></p>'
  }
}

/** Returns a page in English without scripts. */
export function defaultPage(state: DevicePageState, kit: Pick<Kit, 'sha256'>): DevicePageReply {
  const hash = kit.sha256(style).replaceAll('-', '+').replaceAll('_', '/')
  return {
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Connect a device</title><style>${style}</style></head>
<body><main><h1>Connect a device</h1>
${contentOf(state)}
</main></body></html>`,
    sources: { style: [`'sha256-${hash}='`] },
  }
}
