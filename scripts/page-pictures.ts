// `npm run pictures:pages`: takes a picture of every page of `@grantry/pages` in test/pages/.pictures/, at 390 and 1280
// pixels, light and dark. Arguments: languages (default: en).
import { takePictures } from '../packages/server/src/pages-preview/pictures.ts'
import { chromiumMissing, findChromium } from './find-chromium.js'

const chromium = findChromium()
if (chromium === undefined) throw new Error(chromiumMissing)
const directory = 'test/pages/.pictures'
const locales = process.argv.length > 2 ? process.argv.slice(2) : ['en']
const count = await takePictures({}, { chromium, directory, locales, widths: [390, 1280] })
process.stdout.write(`${count} pictures are in ${directory}\n`)
