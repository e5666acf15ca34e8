import { filledTitle, type Html } from '../html.ts'
import { fill } from '../messages/messages.ts'
import type { Tools } from '../tools.ts'
import { accountLanguages } from './messages/languages.ts'
import type { AccountMessages } from './messages/messages.ts'

/** What the templates of the account page can use. */
export interface AccountTools extends Tools {
  /** Returns a text of the account page. */
  own(key: keyof AccountMessages, values?: Readonly<Record<string, string>>): string
  /** The same for a heading, in which the style keeps a name in one line. */
  ownTitle(key: keyof AccountMessages, values: Readonly<Record<string, string>>): Html
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
    const [unit, length] = units.find(([, one]) => seconds >= one) ?? ['second', 1]
    // The time of a use is known to a minute.
    return unit === 'second' ? format.format(0, 'minute') : format.format(-Math.floor(seconds / length), unit)
  }
}

/** Adds the texts of the account page. A language that has none, such as one of the operator, gets the English ones. */
export function accountTools(tools: Tools): AccountTools {
  const ranges = [tools.locale, tools.locale.split('-', 1)[0] ?? '']
  const language = ranges.find((range) => Object.hasOwn(accountLanguages, range)) ?? 'en'
  const messages = accountLanguages[language]
  if (messages === undefined) throw new TypeError('There are no English texts')
  return {
    ...tools,
    own: (key, values) => (values === undefined ? messages[key] : fill(messages[key], values)),
    ownTitle: (key, values) => filledTitle(messages[key], values),
    ago: createAgo(language),
  }
}
