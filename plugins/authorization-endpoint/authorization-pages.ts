import { type Client, escapeHtml, type HtmlSources, webRuntime } from '@grantry/core'

export interface RenderedPage {
  readonly html: string
  readonly sources?: HtmlSources | undefined
}

/** The pages that the endpoint shows by itself. The pages of a sign-in belong to the interaction. Escape every text. */
export interface EndpointPages {
  /** Chooses a language. @param uiLocales the parameter `ui_locales` */
  localeOf(uiLocales: string | undefined, acceptLanguage: string | null): string
  /** Shows a refusal that no client may receive. */
  error(view: ErrorView, locale: string): RenderedPage
  /** Shows a form that the browser sends to the client immediately (OAuth 2.0 Form Post Response Mode). */
  formPost(view: FormPostView, locale: string): RenderedPage
}

export interface ErrorView {
  /** The error code. */
  readonly code: string
  /** The reason of the refusal, as in the log. */
  readonly reason: string
  /** The id of the request in the log, for support. Absent if there are no events. */
  readonly requestId?: string | undefined
  /** Begins the request again. */
  readonly restart?: string | undefined
  /** A link back to the application. */
  readonly returnTo?: { readonly name: string; readonly url: string } | undefined
  /** The page at the host of the provider: a way on if there is no other one. */
  readonly home?: string | undefined
  /**
   * What the client has registered, for its developer, to compare it with the request. Only at an `http` issuer on this
   * machine: others must not learn it.
   */
  readonly registered?: RegisteredOfClient | undefined
}

/** Settings of a client, under their names. */
export type RegisteredOfClient = Pick<Client, 'redirectUris' | 'grantTypes' | 'scopes'>

export interface FormPostView {
  /** The redirect URI. */
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  /** The additional sources of `form-action`. */
  readonly formTargets: readonly string[]
  /** Whether the form waits for its button, instead of sending itself. Default: `false`. */
  readonly waits?: boolean | undefined
}

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title}</title></head>
<body><main><h1>${title}</h1>
${content}
</main></body></html>`

const submit = 'document.forms[0].submit()'

const hashSource = (script: string): string =>
  `'sha256-${btoa(String.fromCharCode(...webRuntime.sha256(new TextEncoder().encode(script))))}'`

const link = (id: string, url: string | undefined, text: string): string =>
  url === undefined ? '' : `<p><a id="${id}" href="${escapeHtml(url)}">${escapeHtml(text)}</a></p>`

function linksTo({ restart, returnTo, home }: Pick<ErrorView, 'restart' | 'returnTo' | 'home'>): string {
  const links = link('restart', restart, 'Start again') + link('return', returnTo?.url, `Return to ${returnTo?.name}`)
  return links === '' && home !== undefined ? link('home', home, `Go to ${new URL(home).host}`) : links
}

const registeredList = (registered: ErrorView['registered']): string =>
  Object.entries(registered ?? {})
    .map(([name, values]) => `<p><code class="registered">${escapeHtml(`${name}: ${values.join(' ')}`)}</code></p>`)
    .join('\n')

/** Plain pages in English. */
export const plainPages: EndpointPages = {
  localeOf: () => 'en',
  error: ({ code, reason, requestId, registered, ...ways }) => ({
    html: page(
      'This request cannot be completed',
      `${linksTo(ways)}<p>Return to the application and try again. If that does not help, tell its operator what you see here.</p>
<p><code id="error">${escapeHtml(code)}</code> <code id="reason">${escapeHtml(reason)}</code>${requestId === undefined ? '' : ` <code id="request">${escapeHtml(requestId)}</code>`}</p>
${registeredList(registered)}`,
    ),
  }),
  formPost({ action, fields, formTargets, waits }) {
    const inputs = Object.entries(fields).map(
      ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
    )
    return {
      html: page(
        'Continue to the application',
        `<form method="post" action="${escapeHtml(action)}">${inputs.join('')}<button id="continue">Continue</button></form>
${waits === true ? '' : `<script>${submit}</script>`}`,
      ),
      sources: { form: formTargets, ...(waits !== true && { script: [hashSource(submit)] }) },
    }
  },
}
