import { PipecatClientVideo } from '@pipecat-ai/client-react'

/** The pictures of a conversation, while there is one. */
export function Videos({ active }: { readonly active: boolean }) {
  return (
    <section className="videos" aria-label="Video" hidden={!active}>
      {/* #if botVideo */}
      <PipecatClientVideo className="bot" aria-label="The bot" participant="bot" fit="contain" playsInline />
      {/* #end */}
      {/* #if camera */}
      <PipecatClientVideo className="camera" aria-label="You" participant="local" fit="cover" playsInline />
      {/* #end */}
    </section>
  )
}
