import type { Texts } from '../texts.ts'
import type { Tools } from '../tools.ts'

/** The functions that a template of accounts can use. */
export interface SelfServicePageTools {
  readonly shared: Tools
  /** The name of the service, in mails. */
  readonly service: string | undefined
  /** The page with the mails of a development server. */
  readonly outboxUrl?: string | undefined
  /** Returns a text of accounts in the language of the page. */
  selfServiceText(key: keyof Texts['mails'], values?: Readonly<Record<string, string>>): string
}
