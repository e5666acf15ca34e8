import type { HtmlSources, Kit } from '@grantry/core'

export interface RenderedPage {
  readonly html: string
  readonly sources?: HtmlSources | undefined
}

/** The pages that the endpoint shows by itself. The pages of a sign-in belong to the interaction. */
export interface EndpointPages {
  /** A refusal that must not be sent to the client. `code` is that of the error, and `reason` its id in the log. */
  error(view: ErrorView, kit: Kit, language: PageLanguage): RenderedPage
  /** A form that the browser sends to the client immediately (OAuth 2.0 Form Post Response Mode). */
  formPost(view: FormPostView, kit: Kit, language?: PageLanguage): RenderedPage
}

/** From which a page chooses its language. */
export interface PageLanguage {
  readonly uiLocales: string | undefined
  readonly acceptLanguage: string | null
}

export interface ErrorView {
  readonly code: string
  readonly reason: string
}

export interface FormPostView {
  /** The redirect URI. */
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  readonly formTargets: readonly string[]
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/gu, (character) => `&#${character.charCodeAt(0)};`)

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title}</title></head>
<body><main><h1>${title}</h1>
${content}
</main></body></html>`

const submit = 'document.forms[0].submit()'

const sourceOf = (script: string, kit: Kit): string =>
  `'sha256-${kit.sha256(script).replaceAll('-', '+').replaceAll('_', '/')}='`

/** Plain pages in English. */
export const plainPages: EndpointPages = {
  error: ({ code, reason }) => ({
    html: page(
      'This request cannot be completed',
      `<p>Return to the application and try again. If that does not help, tell its operator what you see here.</p>
<p><code id="error">${escapeHtml(code)}</code> <code id="reason">${escapeHtml(reason)}</code></p>`,
    ),
  }),
  formPost({ action, fields, formTargets }, kit) {
    const inputs = Object.entries(fields).map(
      ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
    )
    return {
      html: page(
        'Continue to the application',
        `<form method="post" action="${escapeHtml(action)}">${inputs.join('')}<button id="continue">Continue</button></form>
<script>${submit}</script>`,
      ),
      sources: { form: formTargets, script: [sourceOf(submit, kit)] },
    }
  },
}
