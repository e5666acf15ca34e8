import { ar } from './ar.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { ja } from './ja.ts'
import { ko } from './ko.ts'
import type { AccountMessages } from './messages.ts'
import { nl } from './nl.ts'
import { pl } from './pl.ts'
import { pt } from './pt.ts'
import { zh } from './zh.ts'

/** The languages of the account page. English is the default. */
export const accountLanguages: Readonly<Record<string, AccountMessages>> = {
  en,
  de,
  fr,
  es,
  pt,
  it,
  nl,
  pl,
  zh,
  ja,
  ko,
  ar,
}
