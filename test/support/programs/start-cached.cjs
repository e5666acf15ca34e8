// Starts `server.cjs` beside it with the compiled code that a first start has left: to compile the server takes as much CPU
// time as everything else in a start. Node.js 20 has no cache of compiled code for modules.
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { createRequire, wrap } = require('node:module')
const { join } = require('node:path')
const { constants, Script } = require('node:vm')

const filename = join(__dirname, 'server.cjs')
const cache = join(__dirname, 'server.cache')
const script = new Script(wrap(readFileSync(filename, 'latin1')), {
  filename,
  ...(existsSync(cache) && { cachedData: readFileSync(cache) }),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
if (process.env.GRANTRY_TEST_CODE_CACHE === 'write') {
  process.once('exit', () => writeFileSync(cache, script.createCachedData()))
}
const module_ = { exports: {} }
script.runInThisContext()(module_.exports, createRequire(filename), module_, filename, __dirname)
