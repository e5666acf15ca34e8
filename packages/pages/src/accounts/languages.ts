import { ar } from './texts/ar.ts'
import { de } from './texts/de.ts'
import { en } from './texts/en.ts'
import { es } from './texts/es.ts'
import { fr } from './texts/fr.ts'
import { it } from './texts/it.ts'
import { ja } from './texts/ja.ts'
import { ko } from './texts/ko.ts'
import { nl } from './texts/nl.ts'
import { pl } from './texts/pl.ts'
import { pt } from './texts/pt.ts'
import { zh } from './texts/zh.ts'
import type { AccountsTexts } from './texts.ts'

/** As for the pages of the sign-in. The first is the default. */
export const accountsTexts: Readonly<Record<string, AccountsTexts>> = { en, de, fr, es, pt, it, nl, pl, zh, ja, ko, ar }
