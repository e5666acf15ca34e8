import type { Client, Kit, Reply, Subject } from '@grantry/core'

/** Why the page asks for a code again. */
export type DevicePageProblem = 'code_unknown' | 'too_many_guesses' | 'form_expired'

/**
 * What the page shows. Its forms use POST and have no `action`: `enter_code` has the field `user_code`; `confirm` has
 * the field `form_token` and two buttons with the name `decision` and the values `approve` and `deny`.
 */
export type DevicePageState =
  | { readonly step: 'signed_out' }
  | { readonly step: 'enter_code'; readonly problem?: DevicePageProblem | undefined }
  | {
      readonly step: 'confirm'
      /** The code as the device shows it. Ask the user to compare it (RFC 8628 section 3.3.1). */
      readonly userCode: string
      readonly client: Client
      /** The requested scopes. */
      readonly scopes: readonly string[]
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

const escapeHtml = (text: string): string => text.replace(/[&<>"']/gu, (character) => `&#${character.charCodeAt(0)};`)

const style =
  ':root{color-scheme:light dark;font:1.125rem/1.5 system-ui,sans-serif}' +
  'main{max-width:28rem;margin:0 auto;padding:0 .5rem;overflow-wrap:anywhere}' +
  'label,input{display:block}' +
  'input,button{box-sizing:border-box;max-width:100%;margin:.5rem .5rem .5rem 0;padding:.5rem .75rem;font:inherit}' +
  'strong{letter-spacing:.1em}'

function contentOf(state: DevicePageState): string {
  switch (state.step) {
    case 'signed_out':
      return '<p>You are not signed in.</p><p><a href="">Continue</a></p>'
    case 'enter_code': {
      const { problem } = state
      const [alert, described] =
        problem === undefined
          ? ['', '']
          : [`<p id="problem" role="alert">${problems[problem]}</p>`, ' aria-describedby="problem"']
      return `${alert}<form method="post"><label for="user_code">The code that your device shows</label>
<input id="user_code" name="user_code" required autocomplete="off" autocapitalize="characters" spellcheck="false"${described}>
<button>Continue</button></form>`
    }
    case 'confirm': {
      const { userCode, client, scopes, formToken, name } = state
      const items = scopes.map((scope) => `<li>${escapeHtml(scope)}</li>`).join('')
      const user = name === undefined ? '' : `<p id="user">Signed in as ${escapeHtml(name)}</p>`
      return `${user}<p>Does your device show this code?</p><p><strong>${escapeHtml(userCode)}</strong></p>
<p>Approve only if it does, and if you have started this yourself. The device gets access to your account.</p>
<p>The application ${escapeHtml(client.clientId)} requests:</p><ul>${items}</ul>
<form method="post"><input type="hidden" name="form_token" value="${escapeHtml(formToken)}">
<button name="decision" value="approve">Approve</button><button name="decision" value="deny">Deny</button></form>`
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
