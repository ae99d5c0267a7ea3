import type { PlannedFile } from '../plan.ts'
import { emptyGuide } from './empty-guide.ts'
import { gettingStarted } from './getting-started.ts'
import type { ProjectFacts } from './project-facts.ts'
import { projectGuide } from './project-guide.ts'
import { AGENTS_FILE, ASSISTANT_FILE, GETTING_STARTED_FILE, IMPORT_LINE } from './rules.ts'
import { stamped } from './stamp.ts'

/** The guide files of a project. */
export function projectGuideFiles(facts: ProjectFacts, version: string): readonly PlannedFile[] {
  return [{ path: AGENTS_FILE, content: stamped(projectGuide(facts), version) }, assistantFile()]
}

/** The files of a folder in which a coding agent will make a project. */
export function codingAgentFiles(version: string): readonly PlannedFile[] {
  return [
    { path: AGENTS_FILE, content: stamped(emptyGuide(), version) },
    assistantFile(),
    { path: GETTING_STARTED_FILE, content: stamped(gettingStarted(), version) },
  ]
}

function assistantFile(): PlannedFile {
  return { path: ASSISTANT_FILE, content: `${IMPORT_LINE}\n` }
}
