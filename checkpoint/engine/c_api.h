/* The checkpoint engine for other languages: a few plain functions over JSON and addresses.
 *
 * Every function may block and none needs a lock of the caller's language. A handle is used by one
 * thread at a time, but for amdahl_ckpt_status(). Functions that return int give 0, or not 0 after
 * an error; those that return a pointer give NULL. Then amdahl_ckpt_error() has its text and
 * amdahl_ckpt_error_code() its name, as of the calling thread's last call. Texts that are returned
 * as char* belong to the caller, who gives them to amdahl_ckpt_free(). No exception gets out.
 */
#ifndef AMDAHL_CHECKPOINT_ENGINE_C_API_H
#define AMDAHL_CHECKPOINT_ENGINE_C_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct amdahl_ckpt amdahl_ckpt;

const char* amdahl_ckpt_error(void);
const char* amdahl_ckpt_error_code(void); /* "throttled", "too_large", "corrupt", ... */
void amdahl_ckpt_free(char* text);

/* Options: session_options.hpp has their names. Nothing is written before the first save. */
amdahl_ckpt* amdahl_ckpt_open(const char* options_json);
/* Stops what is under way and waits for that; amdahl_ckpt_settle() first, to have it finished. What
 * a checkpoint agent was given it writes in any case. */
void amdahl_ckpt_close(amdahl_ckpt* handle);

/* The tensors of the saves that follow:
 * [{"name":..,"dtype":..,"shape":[..],"globalShape":[..],"offset":[..],"frozen":0|1}, ..] */
int amdahl_ckpt_describe(amdahl_ckpt* handle, const char* tensors_json);
/* `state` is JSON as the format's page says, `metrics` an object of texts; either may be NULL. */
typedef struct amdahl_ckpt_save_request {
  int64_t step;
  const char* state;
  const char* metrics;
  int64_t patience_ms; /* to wait for earlier saves if there is no room */
  const void* const* tensors;
  size_t count;
} amdahl_ckpt_save_request;
/* Returns when all tensors are copied; "throttled": there was no room, and nothing was saved. */
int amdahl_ckpt_save(amdahl_ckpt* handle, const amdahl_ckpt_save_request* request);
int amdahl_ckpt_wait(amdahl_ckpt* handle, int64_t patience_ms);   /* until all is committed */
int amdahl_ckpt_settle(amdahl_ckpt* handle, int64_t patience_ms); /* and what it replaced is gone */
char* amdahl_ckpt_status(amdahl_ckpt* handle);

/* Opens a step, or with -1 the newest before `before` (-1: of all) whose records are sound; "null"
 * when there is none. Gives step, state, rankState, metrics, tensors, passedOver. */
char* amdahl_ckpt_open_step(amdahl_ckpt* handle, int64_t step, int64_t before);
/* Reads [{"name":..,"dtype":..,"shape":[..],"offset":[..]}, ..] of the step that is open. NULL: all
 * tensors, whole, in the order of amdahl_ckpt_open_step(), but those whose address is NULL. */
int amdahl_ckpt_load(amdahl_ckpt* handle, const char* wanted_json, void* const* tensors,
                     size_t count);

char* amdahl_ckpt_list(amdahl_ckpt* handle);                     /* committed checkpoints */
char* amdahl_ckpt_verify(amdahl_ckpt* handle, int64_t step);     /* every chunk of it */
char* amdahl_ckpt_collect(amdahl_ckpt* handle, int only_a_plan); /* what goes, or would */
int amdahl_ckpt_export(amdahl_ckpt* handle, int64_t step, const char* path);
int amdahl_ckpt_pin(amdahl_ckpt* handle, int64_t step, int pinned);

#ifdef __cplusplus
}
#endif

#endif
