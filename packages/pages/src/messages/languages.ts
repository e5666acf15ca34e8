import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { ja } from './ja.ts'
import type { Messages } from './messages.ts'
import { zh } from './zh.ts'

/** The languages of the pages. The first is the default. */
export const languages: Readonly<Record<string, Messages>> = { en, de, fr, es, zh, ja }
