import { parseConfiguration } from '@grantry/core'
import { messagesOf } from '../create-pages.ts'
import { createLocaleOf } from '../locale.ts'
import { localesOf } from '../messages/languages.ts'
import { fill } from '../messages/messages.ts'
import { type PagesOptions, pagesSchema } from '../options.ts'
import { createLayout, createTools, type Page, type Rendered } from '../tools.ts'
import { invitationState, invited } from './invitations.ts'
import { accountsTexts } from './languages.ts'
import { renderMail } from './mails.ts'
import { askAddress, mailElsewhere, mailProved, mailSent } from './templates.ts'
import type { AccountsTexts } from './texts.ts'
import type { AccountsTools } from './tools.ts'
import type {
  AskAddressView,
  InvitationStateView,
  InvitedView,
  MailElsewhereView,
  MailProvedView,
  MailSentView,
  MailView,
  RenderedMail,
} from './views.ts'

export type { AccountsTexts } from './texts.ts'
/** The pages and mails of accounts, ready for `accounts()`. */
export interface AccountsDocuments {
  /** Chooses among the languages. @param uiLocales the parameter `ui_locales` */
  localeOf(uiLocales: string | undefined, acceptLanguage: string | null): string
  askAddress(view: AskAddressView, locale: string): Rendered
  mailSent(view: MailSentView, locale: string): Rendered
  mailProved(view: MailProvedView, locale: string): Rendered
  mailElsewhere(view: MailElsewhereView, locale: string): Rendered
  invited(view: InvitedView, locale: string): Rendered
  invitationState(view: InvitationStateView, locale: string): Rendered
  mail(view: MailView, locale: string): RenderedMail
}

type PageName = Exclude<keyof AccountsDocuments, 'localeOf' | 'mail'>

/** The content of the pages of accounts. */
export type AccountsTemplates = {
  readonly [Name in PageName]: (view: Parameters<AccountsDocuments[Name]>[0], tools: AccountsTools) => Page
}

const ownTemplates: AccountsTemplates = { askAddress, mailSent, mailProved, mailElsewhere, invited, invitationState }

export interface AccountsPagesOptions extends PagesOptions {
  readonly templates?: Partial<AccountsTemplates> | undefined
  /** What mails call the service if it has no `name`, such as the host of the issuer. */
  readonly host: string
  /** The page with the mails of a server for development. The page about a mail then has a link to it. */
  readonly outboxUrl?: string | undefined
}

function textsOf(locale: string): AccountsTexts {
  const texts = accountsTexts[locale] ?? accountsTexts[locale.split('-', 1)[0] ?? ''] ?? accountsTexts.en
  if (texts === undefined) throw new TypeError('There are no English texts')
  return texts
}

/**
 * Creates the pages and mails of accounts, with the appearance of the other pages.
 *
 * @throws TypeError when an option is malformed.
 */
export function createAccountsPages({
  host,
  outboxUrl,
  templates,
  ...appearance
}: AccountsPagesOptions): AccountsDocuments {
  const settings = parseConfiguration(pagesSchema, appearance, 'createAccountsPages()')
  const locales = localesOf(settings)
  const layout = createLayout(settings)
  const createOwn = (locale: string): AccountsTools => {
    const texts = textsOf(locale)
    return {
      shared: createTools(locale, messagesOf(locale, settings.messages[locale]), settings),
      service: settings.name,
      outboxUrl,
      own: (key, values) => fill(texts[key], values ?? {}),
    }
  }
  const byLocale = new Map(locales.map((locale) => [locale, createOwn(locale)]))
  const [byDefault = 'en'] = locales
  const toolsFor = (locale: string): AccountsTools => {
    const tools = byLocale.get(locale) ?? byLocale.get(byDefault)
    if (tools === undefined) throw new TypeError('createAccountsPages(): locales is empty')
    return tools
  }
  const render =
    <V>(template: (view: V, tools: AccountsTools) => Page) =>
    (view: V, locale: string): Rendered =>
      layout(template(view, toolsFor(locale)), toolsFor(locale).shared)
  const used: AccountsTemplates = { ...ownTemplates, ...templates }
  return {
    localeOf: createLocaleOf(locales),
    askAddress: render(used.askAddress),
    mailSent: render(used.mailSent),
    mailProved: render(used.mailProved),
    mailElsewhere: render(used.mailElsewhere),
    invited: render(used.invited),
    invitationState: render(used.invitationState),
    mail: (view, locale) => renderMail(view, toolsFor(locale), host),
  }
}
