import arabic from './texts/ar.json' with { type: 'json' }
import german from './texts/de.json' with { type: 'json' }
import spanish from './texts/es.json' with { type: 'json' }
import french from './texts/fr.json' with { type: 'json' }
import italian from './texts/it.json' with { type: 'json' }
import japanese from './texts/ja.json' with { type: 'json' }
import korean from './texts/ko.json' with { type: 'json' }
import dutch from './texts/nl.json' with { type: 'json' }
import polish from './texts/pl.json' with { type: 'json' }
import portuguese from './texts/pt.json' with { type: 'json' }
import chinese from './texts/zh.json' with { type: 'json' }
import { en, type Texts } from './texts.ts'

export { en, type Texts } from './texts.ts'

// Each is a value of its own, so that a bundle has only those that its program imports.
export const ar: Texts = arabic
export const de: Texts = german
export const es: Texts = spanish
export const fr: Texts = french
export const it: Texts = italian
export const ja: Texts = japanese
export const ko: Texts = korean
export const nl: Texts = dutch
export const pl: Texts = polish
export const pt: Texts = portuguese
export const zh: Texts = chinese

/** All languages of this package. */
export const languages: Readonly<Record<string, Texts>> = { en, de, fr, es, pt, it, nl, pl, zh, ja, ko, ar }
