import {
  commandFor,
  openFolder,
  planGuides,
  QUICKSTART_CONFIGURATION,
  QUICKSTART_DIRECTORY,
  resolve,
} from '@botcli/scaffold'
import { guideNotices } from './guides.ts'
import type { Outcome } from './outcome.ts'
import { type Place, placeAt, recall } from './place.ts'

/** Without a terminal nothing is asked: says which options to give, with commands that work as they stand. */
export async function nobodyToAsk(place: Place | undefined): Promise<Outcome> {
  const wanted = place ?? placeAt('.', 'my-bot')
  const resolution = resolve({ flags: {}, directoryName: wanted.name })
  return {
    kind: 'invalid',
    message: 'There is no terminal to ask in, so that options have to say what to make. Nothing was written.',
    problems: resolution.ok ? [] : resolution.problems,
    notices: place === undefined ? [] : await oldGuides(place),
    examples: [
      'botcli init quickstart',
      commandFor(QUICKSTART_CONFIGURATION, wanted.shown, QUICKSTART_DIRECTORY),
    ],
  }
}

/** How to refresh the guides that are there, if they need it. */
async function oldGuides(place: Place): Promise<readonly string[]> {
  return guideNotices(place, await openFolder(place.path), planGuides(await recall(place)))
}
