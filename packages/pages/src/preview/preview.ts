import type { AccountPages } from '@grantry/plugins/account'
import type { SelfServicePages } from '@grantry/plugins/self-service'
import { type AccountTemplates, createAccountPages } from '../account/create-account-pages.ts'
import { createPages, type Pages } from '../create-pages.ts'
import { languages } from '../languages.ts'
import type { Framed } from '../page-set.ts'
import { createSelfServicePages, type SelfServiceTemplates } from '../self-service/index.ts'
import type { Rendered } from '../tools.ts'
import { accountStates } from './account-states.ts'
import { selfServiceStates } from './self-service-states.ts'
import { states } from './states.ts'

/** All pages and mails: those of a sign-in, of self-service, and of the page on which users see their account. */
export interface PageSets {
  readonly pages: Pages
  readonly selfService: Framed<SelfServicePages>
  readonly account: Framed<AccountPages>
}

/** A page in a state. */
export interface PreviewState {
  /** The names of the page and of the state, such as `sign-in-wrong-credentials`. */
  readonly name: string
  /** The set that the page belongs to. */
  readonly set: keyof PageSets
  readonly page: string
  /** Mails have no scripts, and styles in their elements. */
  readonly isMail: boolean
  render(sets: PageSets, locale: string): Rendered
}

/** The appearance of all pages, and templates for each of their sets. */
export type PageSetOptions = NonNullable<Parameters<typeof createPages>[0]> & {
  readonly accountTemplates?: Partial<AccountTemplates> | undefined
  readonly selfServiceTemplates?: Partial<SelfServiceTemplates> | undefined
}

/**
 * Creates all pages in one appearance, in all languages.
 *
 * @throws TypeError when an option is malformed.
 */
export function createPageSets(options: PageSetOptions = {}): PageSets {
  const { templates, accountTemplates, selfServiceTemplates, ...more } = options
  const appearance = { ...more, languages: { ...languages, ...more.languages } }
  return {
    pages: createPages({ ...appearance, ...(templates !== undefined && { templates }) }),
    selfService: createSelfServicePages({ ...appearance, host: 'id.example.com', templates: selfServiceTemplates }),
    account: createAccountPages({ ...appearance, templates: accountTemplates }),
  }
}

const kebab = (text: string): string =>
  text.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`).replaceAll(/[_ ]/gu, '-')

/** A mail is shown as a page; its styles are in its elements. */
const asPage = (shown: Rendered | { readonly html: string }): Rendered =>
  'sources' in shown ? shown : { html: shown.html, sources: { style: ["'unsafe-inline'"] } }

type Renderers = Readonly<Record<string, (view: unknown, locale: string) => Rendered | { readonly html: string }>>

const statesOfSet = (
  set: keyof PageSets,
  views: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): readonly PreviewState[] =>
  Object.entries(views).flatMap(([page, ofPage]) =>
    Object.entries(ofPage).map(([state, view]) => {
      const parts = [
        ...(set === 'pages' ? [] : [kebab(set)]),
        kebab(page),
        ...(state === 'usual' ? [] : [kebab(state)]),
      ]
      return {
        name: parts.join('-'),
        set,
        page,
        isMail: page === 'mail' || page.endsWith('Mail'),
        render: (sets, locale) => asPage((sets[set] as unknown as Renderers)[page]?.(view, locale) ?? { html: '' }),
      }
    }),
  )

/** Every page in every state, with examples as content. For previews, pictures and tests. */
export const previewStates: readonly PreviewState[] = [
  ...statesOfSet('pages', states),
  ...statesOfSet('selfService', selfServiceStates),
  ...statesOfSet('account', accountStates),
]
