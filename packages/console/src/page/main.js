import { startAdministration } from './administration.js'
import { byId } from './elements.js'
import { listen } from './live.js'
import { startRequests } from './requests.js'
import { loadSetup } from './setup.js'

try {
  const setup = await loadSetup()
  if ('administration' in setup) await startAdministration(setup)
  else {
    byId('builder').hidden = false
    startRequests(setup, listen)
  }
} catch (error) {
  const notice = byId('notice')
  notice.hidden = false
  notice.textContent = `The console could not start: ${error instanceof Error ? error.message : String(error)}`
}
