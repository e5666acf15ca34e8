import type { SelfServicePages } from '@grantry/plugins/self-service'
import { createPageSet, type Framed, ownTexts, type TemplatesOf } from '../page-set.ts'
import { type PagesOptions, settingsOf } from '../pages-options.ts'
import type { Texts } from '../texts.ts'
import { invitationState, invited } from './invitations.ts'
import { renderMail } from './mails.ts'
import { askAddress, mailElsewhere, mailProved, mailSent } from './templates.ts'
import type { SelfServicePageTools } from './tools.ts'

/** The texts of these pages and mails. */
export type SelfServiceTexts = Texts['mails']

/** The content of the pages of accounts. */
export type SelfServiceTemplates = TemplatesOf<SelfServicePages, SelfServicePageTools>

const ownTemplates: SelfServiceTemplates = { askAddress, mailSent, mailProved, mailElsewhere, invited, invitationState }

export interface SelfServicePagesOptions extends PagesOptions {
  readonly templates?: Partial<SelfServiceTemplates> | undefined
  /** The name of the service in mails if it has no `name`, such as the host of the issuer. */
  readonly host: string
  /** The page with the mails of a server for development. The page about a mail then has a link to it. */
  readonly outboxUrl?: string | undefined
}

/**
 * Creates the pages and mails of accounts, with the appearance of the other pages.
 *
 * @throws TypeError when an option is malformed.
 */
export function createSelfServicePages({
  host,
  outboxUrl,
  templates,
  ...appearance
}: SelfServicePagesOptions): Framed<SelfServicePages> {
  const settings = settingsOf(appearance, 'createSelfServicePages()')
  const set = createPageSet(settings, (shared, { texts }): SelfServicePageTools => {
    return { shared, service: settings.name, outboxUrl, selfServiceText: ownTexts(texts.mails) }
  })
  return {
    localeOf: set.localeOf,
    ...set.renderers({ ...ownTemplates, ...templates }),
    mail: (view, locale) => renderMail(view, set.toolsFor(locale), host),
  }
}
