import { filledTitle, type Html } from '../html.ts'
import { type Language, ownTexts } from '../page-set.ts'
import type { Texts } from '../texts.ts'
import type { Tools } from '../tools.ts'

/** The functions that the templates of the account page can use. */
export interface AccountTools extends Tools {
  /** Returns a text of the account page. */
  accountText(key: keyof Texts['account'], values?: Readonly<Record<string, string>>): string
  /** Like `accountText`, for a heading, in which the style keeps a name in one line. */
  accountTitle(key: keyof Texts['account'], values: Readonly<Record<string, string>>): Html
  /** Returns how long ago something was, such as "5 minutes ago". @param seconds a duration */
  ago(seconds: number): string
}

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

function createAgo(locale: string): AccountTools['ago'] {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  return (seconds) => {
    const [unit, length] = units.find(([, duration]) => seconds >= duration) ?? ['second', 1]
    // The time of a use is known to a minute.
    return unit === 'second' ? format.format(0, 'minute') : format.format(-Math.floor(seconds / length), unit)
  }
}

/** Adds the texts of the account page. */
export function accountTools(tools: Tools, { tag, texts }: Language): AccountTools {
  const messages = texts.account
  return {
    ...tools,
    accountText: ownTexts(messages),
    accountTitle: (key, values) => filledTitle(messages[key], values),
    ago: createAgo(tag),
  }
}
