/* Messages under views: what holds the source, and until when. */
#include "view.h"

static void let_go(Message *self)
{
    self->start.base = NULL;
    self->start.end = 0;
    self->start.segments = NULL;
    if (self->segments == NULL) {
        Py_CLEAR(self->start.source);
        Py_CLEAR(self->pin);
    } else {
        Segments *segments = self->segments;
        self->start.source = NULL;
        self->segments = NULL;
        segments_free(segments);
    }
}

void message_release(Message *inner)
{
    Message *self = outermost(inner);
    bool is_last;
    Py_BEGIN_CRITICAL_SECTION(self);
    is_last = !self->is_released && self->users == 0;
    self->is_released = true;
    Py_END_CRITICAL_SECTION();
    if (is_last) {
        let_go(self);
    }
}

int message_enter(Message *inner)
{
    Message *self = outermost(inner);
    bool is_released;
    Py_BEGIN_CRITICAL_SECTION(self);
    is_released = self->is_released;
    self->users += !is_released;
    Py_END_CRITICAL_SECTION();
    if (!is_released) {
        return 0;
    }
    PyObject *error = PyObject_CallNoArgs(self->start.engine->released);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return -1;
}

void message_leave(Message *inner)
{
    Message *self = outermost(inner);
    bool is_last;
    Py_BEGIN_CRITICAL_SECTION(self);
    is_last = --self->users == 0 && self->is_released;
    Py_END_CRITICAL_SECTION();
    if (is_last) {
        let_go(self);
    }
}

PyObject *message_finish(Message *self, Reader *reader, PyObject *value)
{
    if (value == NULL) {
        raise_fault(reader);
    }
    reader_end(reader);
    message_leave(self);
    return value;
}

static int message_traverse(Message *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->start.engine);
    if (self->outer != NULL) {
        Py_VISIT(self->outer); /* Whose source it reads. */
        return 0;
    }
    if (self->segments != NULL) {
        return segments_traverse(self->segments, visit, arg);
    }
    Py_VISIT(self->start.source);
    Py_VISIT(self->pin);
    return 0;
}

static int message_clear(Message *self)
{
    /* The engine stays, as the nodes of views are its own; it breaks its own cycles. */
    if (self->outer == NULL) {
        message_release(self);
    }
    return 0;
}

static void message_dealloc(Message *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    message_clear(self);
    Py_XDECREF(self->outer);
    Engine *engine = self->start.engine;
    free_to((PyObject *)self, &engine->spare_message);
    Py_DECREF(engine);
    Py_DECREF(type);
}

static PyType_Slot message_slots[] = {
    {Py_tp_dealloc, message_dealloc},
    {Py_tp_traverse, message_traverse},
    {Py_tp_clear, message_clear},
    {0, NULL},
};

PyType_Spec message_spec = {
    .name = "zcser.native._flat.Message",
    .basicsize = sizeof(Message),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = message_slots,
};

/* A message without bytes, which is not tracked yet. */
static Message *new_message(Engine *engine)
{
    Message *self = (Message *)new_of(engine->state->message_type, &engine->spare_message);
    if (self != NULL) {
        self->start.engine = (Engine *)Py_NewRef(engine);
        self->start.source = NULL;
        self->outer = NULL;
        self->pin = NULL;
        self->segments = NULL;
        self->users = 0;
        self->is_released = false;
    }
    return self;
}

Message *message_new(Engine *engine, PyObject *data)
{
    Message *self = new_message(engine);
    if (self == NULL) {
        return NULL;
    }
    if (PyBytes_CheckExact(data)) {
        self->start.source = Py_NewRef(data);
        self->start.base = (const uint8_t *)PyBytes_AS_STRING(data);
        self->start.end = (uint64_t)PyBytes_GET_SIZE(data);
    } else {
        self->start.source = PyObject_CallOneArg(engine->byte_view, data);
        self->pin = self->start.source == NULL ? NULL : PyMemoryView_FromObject(self->start.source);
        if (self->pin == NULL) {
            Py_DECREF(self);
            return NULL;
        }
        self->start.base = PyMemoryView_GET_BUFFER(self->pin)->buf;
        self->start.end = (uint64_t)PyMemoryView_GET_BUFFER(self->pin)->len;
    }
    PyObject_GC_Track(self);
    return self;
}

Message *message_of_segments(Engine *engine, PyObject *given)
{
    Segments *segments = segments_new(engine, given);
    Message *self = segments == NULL ? NULL : new_message(engine);
    if (self == NULL) {
        segments_free(segments);
        return NULL;
    }
    self->segments = segments;
    PyObject_GC_Track(self);
    return self;
}

Message *message_nested(Message *outer, const Reader *reader)
{
    Message *self = new_message(reader->engine);
    if (self == NULL) {
        return NULL;
    }
    self->outer = (Message *)Py_NewRef(outermost(outer));
    self->start = outer->start;
    self->start.base = reader->base;
    self->start.end = reader->end;
    self->start.origin = reader->origin;
    self->start.source = reader->source;
    self->start.skipped = reader->skipped;
    self->start.is_stable = reader->is_stable;
    self->start.segments = NULL;
    PyObject_GC_Track(self);
    return self;
}
