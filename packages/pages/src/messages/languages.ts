import { ar } from './ar.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { ja } from './ja.ts'
import { ko } from './ko.ts'
import type { Messages } from './messages.ts'
import { nl } from './nl.ts'
import { pl } from './pl.ts'
import { pt } from './pt.ts'
import { zh } from './zh.ts'

/** The languages of the pages. The first is the default. */
export const languages: Readonly<Record<string, Messages>> = { en, de, fr, es, pt, it, nl, pl, zh, ja, ko, ar }

/** The languages of pages with these options. The first is the default. */
export const localesOf = ({
  locales,
  messages,
}: {
  readonly locales?: readonly string[] | undefined
  readonly messages: object
}): readonly string[] => locales ?? [...new Set([...Object.keys(languages), ...Object.keys(messages)])]

const rightToLeft: ReadonlySet<string> = new Set(['ar', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi'])

/** The direction of a language. Not `dir="auto"`: the name of the service comes first on a page, and is often Latin. */
export const directionOf = (locale: string): 'ltr' | 'rtl' =>
  rightToLeft.has(locale.toLowerCase().split('-', 1)[0] ?? '') ? 'rtl' : 'ltr'
