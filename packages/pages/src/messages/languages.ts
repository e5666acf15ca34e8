import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { ja } from './ja.ts'
import type { Messages } from './messages.ts'
import { zh } from './zh.ts'

/** The languages of the pages. The first is the default. */
export const languages: Readonly<Record<string, Messages>> = { en, de, fr, es, zh, ja }

/** The languages of pages with these options. The first is the default. */
export const localesOf = ({
  locales,
  messages,
}: {
  readonly locales?: readonly string[] | undefined
  readonly messages: object
}): readonly string[] => locales ?? [...new Set([...Object.keys(languages), ...Object.keys(messages)])]
